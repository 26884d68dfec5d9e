use super::*;

#[track_caller]
fn check(text: &[u8], at: usize) {
    let end = |stops: &dyn Fn(u8) -> bool| {
        let run = text.iter().skip(at).position(|&byte| stops(byte));
        run.map_or(text.len(), |len| at + len)
    };
    let plain = |byte| byte == b'"' || byte == b'\\' || byte < 0x20;
    assert_eq!(plain_end(text, at), end(&plain), "{text:?}");
    assert_eq!(long_plain_end(text, at), end(&plain), "{text:?}");
    assert_eq!(
        digits_end(text, at),
        end(&|byte| !byte.is_ascii_digit()),
        "{text:?}"
    );
}

/// Every byte value at every place of a run, against the obvious loop.
#[test]
fn ends_agree_with_the_obvious_loop() {
    for len in [0, 1, 7, 8, 9, 15, 16, 17, 24, 33, 70, 140] {
        for place in 0..=len {
            for byte in 0..=255u8 {
                let mut text = vec![b'7'; len];
                if let Some(slot) = text.get_mut(place) {
                    *slot = byte;
                }
                check(&text, 0);
                check(&text, len / 3);
                check(&text, len - len.min(3));
            }
        }
    }
}

/// Neighbouring bytes must not carry into each other.
#[test]
fn every_pair_of_bytes_is_told_apart() {
    for pair in 0..=u16::MAX {
        let mut text = [b'5'; 20];
        text[..2].copy_from_slice(&pair.to_le_bytes());
        text[10..12].copy_from_slice(&pair.to_le_bytes());
        check(&text, 0);
        check(&text, 2);
    }
}

#[test]
fn a_start_past_the_end_stays_there() {
    assert_eq!(plain_end(b"ab", 2), 2);
    assert_eq!(digits_end(b"", 0), 0);
}
