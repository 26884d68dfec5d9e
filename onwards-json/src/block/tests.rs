use super::*;

/// Every byte value at every place of a run, against the obvious loop.
#[test]
fn ends_agree_with_the_obvious_loop() {
    for len in 0..=80 {
        for place in 0..=len {
            for byte in 0..=255u8 {
                let mut text = vec![b'7'; len];
                if let Some(slot) = text.get_mut(place) {
                    *slot = byte;
                }
                let plain = text.iter().position(|&b| stops(b)).unwrap_or(len);
                assert_eq!(plain_end(&text, 0), plain, "{text:?}");
                let digits = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(len);
                assert_eq!(digits_end(&text, 0), digits, "{text:?}");
            }
        }
    }
}

/// Neighbouring bytes must not carry into each other.
#[test]
fn every_pair_of_bytes_is_told_apart() {
    for pair in 0..=u16::MAX {
        let [one, two] = pair.to_le_bytes();
        let text = [one, two, b'5', b'5', b'5', b'5', b'5', b'5'];
        assert_eq!(
            plain_end(&text, 0),
            text.iter().position(|&b| stops(b)).unwrap_or(8)
        );
        assert_eq!(
            digits_end(&text, 0),
            text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(8)
        );
    }
}

#[test]
fn a_start_past_the_end_stays_there() {
    assert_eq!(plain_end(b"ab", 2), 2);
    assert_eq!(digits_end(b"", 0), 0);
}
