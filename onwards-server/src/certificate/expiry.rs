//! The end of a certificate's validity, read from its DER: the one field that rustls does not tell.
//!
//! A certificate is a sequence whose first element holds, in order: perhaps the version, the serial number, an algorithm, the
//! issuer, and the two dates (RFC 5280, 4.1). Everything before the dates is stepped over by its length.

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Seconds from 1970 to the end of the validity; `None` for bytes that are no certificate, and for ends before 1970.
pub(super) fn not_after(certificate: &[u8]) -> Option<u64> {
    let (certificate, _) = expect(SEQUENCE, certificate)?;
    let (mut fields, _) = expect(SEQUENCE, certificate)?;
    if let Some((_, rest)) = expect(VERSION, fields) {
        fields = rest;
    }
    for _serial_algorithm_issuer in 0..3 {
        (_, _, fields) = element(fields)?;
    }
    let (validity, _) = expect(SEQUENCE, fields)?;
    let (_, _, end) = element(validity)?;
    let (kind, end, _) = element(end)?;
    time(kind, std::str::from_utf8(end).ok()?)
}

fn expect(kind: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    element(der)
        .filter(|(found, _, _)| *found == kind)
        .map(|(_, contents, rest)| (contents, rest))
}

/// The first element: its kind, its contents, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // The low bits count the bytes of the length; four are more than any certificate needs.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = bytes
                .iter()
                .fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((kind, contents, rest))
}

/// `YYMMDDhhmmssZ` from 1950 to 2049, or `YYYYMMDDhhmmssZ`.
fn time(kind: u8, text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match kind {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: u64 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    if rest.len() != 10 {
        return None;
    }
    let part = |at: usize| rest.get(at..at + 2)?.parse::<u64>().ok();
    let (month, day) = (part(0)?, part(2)?);
    let (hour, minute, second) = (part(4)?, part(6)?, part(8)?);
    Some(((days(year, month, day)? * 24 + hour) * 60 + minute) * 60 + second)
}

/// Days from the first of January 1970 to this one.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = |year: u64| {
        u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)))
    };
    if year < 1970 || day == 0 {
        return None;
    }
    let years: u64 = (1970..year).map(|year| 365 + leap(year)).sum();
    let lengths = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month).ok()?.checked_sub(1)?;
    let months: u64 = lengths.get(..before)?.iter().sum();
    (day <= *lengths.get(before)?).then_some(years + months + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_1970() {
        for (kind, text, seconds) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "000229123456Z", Some(951_827_696)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "21000301000000Z", Some(4_107_542_400)),
            (GENERALIZED_TIME, "99991231235959Z", Some(253_402_300_799)),
            (UTC_TIME, "500101000000Z", None),
            (UTC_TIME, "010229000000Z", None),
            (UTC_TIME, "011301000000Z", None),
            (UTC_TIME, "010001000000Z", None),
            (UTC_TIME, "010100000000Z", None),
            (UTC_TIME, "0101010000Z", None),
            (UTC_TIME, "010101000000+0100", None),
            (GENERALIZED_TIME, "20500101000000.5Z", None),
            (0x0c, "700101000000Z", None),
        ] {
            assert_eq!(time(kind, text), seconds, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_real_certificate_is_found_and_no_part_of_it_is_enough() {
        let mut made = rcgen::CertificateParams::new(["a.test".to_owned()]).unwrap();
        for (year, seconds) in [(2027, 1_798_761_600), (2060, 2_840_140_800)] {
            made.not_after = rcgen::date_time_ymd(year, 1, 1);
            let key = rcgen::KeyPair::generate().unwrap();
            let der = made.self_signed(&key).unwrap();
            let der = der.der();
            assert_eq!(not_after(der), Some(seconds));
            for end in 0..der.len() {
                assert_eq!(not_after(&der[..end]), None, "{end}");
            }
        }
    }
}
