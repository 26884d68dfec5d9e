//! Random identifiers. They tell requests apart and are no secrets: their source is not a cryptographic one.

use http::HeaderValue;

/// A new request id: `req_` and 128 random bits.
pub(crate) fn request_id() -> HeaderValue {
    let mut text = *b"req_00000000000000000000000000000000";
    if let Some(digits) = text.last_chunk_mut() {
        *digits = hex(fastrand::u128(..));
    }
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("req"))
}

/// A random UUID (RFC 9562, version 4).
pub(crate) fn uuid() -> String {
    uuid_of(fastrand::u128(..))
}

fn uuid_of(random: u128) -> String {
    let number = random & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let digits = hex(number);
    let mut text = Vec::with_capacity(36);
    for part in [0..8, 8..12, 12..16, 16..20, 20..32] {
        if !text.is_empty() {
            text.push(b'-');
        }
        text.extend_from_slice(digits.get(part).unwrap_or_default());
    }
    String::from_utf8(text).unwrap_or_default()
}

fn hex(number: u128) -> [u8; 32] {
    let mut left = number;
    let mut text = [0; 32];
    for place in text.iter_mut().rev() {
        let digit = (left & 0xf) as u8;
        *place = digit + if digit < 10 { b'0' } else { b'a' - 10 };
        left >>= 4;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_that_the_formatter_writes() {
        for number in [0, 1, 0xabcdef, u128::MAX, 0x0123_4567_89ab_cdef << 64] {
            assert_eq!(hex(number), *format!("{number:032x}").as_bytes());
        }
    }

    #[test]
    fn identifiers_have_their_form() {
        assert_eq!(uuid_of(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid_of(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        let id = request_id();
        let digits = id.to_str().unwrap().strip_prefix("req_").unwrap();
        assert_eq!(digits.len(), 32);
        assert!(u128::from_str_radix(digits, 16).is_ok());
        assert_ne!(id, request_id());
    }
}
