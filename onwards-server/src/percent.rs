//! Percent-encoding of URLs (RFC 3986, 2.1), as far as the gateway reads and writes it.

use std::borrow::Cow;

/// The bytes that a part of a URL means. What is no encoding stays as it is.
pub(crate) fn decode(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let digit = |at: usize| {
            behind
                .get(at)
                .and_then(|digit| char::from(*digit).to_digit(16))
        };
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                decoded.push(byte);
                rest = behind;
            }
        }
    }
    Cow::Owned(decoded)
}

/// A text as one segment of a path: everything but unreserved characters encoded.
pub(crate) fn segment(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let digit = |half: u8| {
                DIGITS
                    .get(usize::from(half))
                    .map_or('0', |d| char::from(*d))
            };
            out.extend(['%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{decode, segment};

    #[test]
    fn there_and_back() {
        for (plain, encoded) in [
            ("fast", "fast"),
            ("a/b:1 ä", "a%2Fb%3A1%20%C3%A4"),
            ("..", ".."),
        ] {
            assert_eq!(segment(plain), encoded);
            assert_eq!(decode(encoded), plain.as_bytes());
        }
        assert_eq!(&*decode("%zz%4"), b"%zz%4");
    }
}
