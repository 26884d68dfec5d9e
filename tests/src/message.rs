//! Messages of Amazon's binary event stream, as a provider writes them.

/// One message: its headers, all strings, and its payload.
#[must_use]
pub fn message(headers: &[(&str, &str)], payload: impl AsRef<[u8]>) -> Vec<u8> {
    const STRING: u8 = 7;
    let payload = payload.as_ref();
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).expect("a short name"));
        head.extend(name.as_bytes());
        head.push(STRING);
        let length = u16::try_from(value.len()).expect("a short value");
        head.extend(length.to_be_bytes());
        head.extend(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).expect("a small message").to_be_bytes();
    let mut bytes = Vec::new();
    bytes.extend(length(16 + head.len() + payload.len()));
    bytes.extend(length(head.len()));
    bytes.extend(checksum(&bytes).to_be_bytes());
    bytes.extend(head);
    bytes.extend(payload);
    bytes.extend(checksum(&bytes).to_be_bytes());
    bytes
}

/// CRC-32 bit by bit, so that nothing of the reader's is used.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let odd = sum & 1 == 1;
            sum >>= 1;
            if odd {
                sum ^= 0xedb8_8320;
            }
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
