//! Where a run of harmless bytes ends: several bytes a step, in safe code.
//!
//! Words are compared with carry tricks; both masks below set the high bit of a byte that stops the
//! run, and the lowest one set is exact, which is all that is read. Blocks are folds the compiler turns
//! into vector instructions.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const WORD: usize = 8;
const BLOCK: usize = 32;

/// The first index from `at` on whose byte is a quote, a backslash or a control character below 0x20;
/// the length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    // Names and most values are short: one or two words settle them.
    for _ in 0..2 {
        let Some(word) = word(bytes, at) else {
            return tail(bytes, at, |byte| !stops(byte));
        };
        let mask = stop_mask(word);
        if mask != 0 {
            return at + first(mask);
        }
        at += WORD;
    }
    long_plain_end(bytes, at)
}

fn long_plain_end(bytes: &[u8], mut at: usize) -> usize {
    for block in bytes.get(at..).unwrap_or_default().chunks_exact(BLOCK) {
        if block.iter().fold(false, |hit, &byte| hit | stops(byte)) {
            break;
        }
        at += BLOCK;
    }
    while let Some(word) = word(bytes, at) {
        let mask = stop_mask(word);
        if mask != 0 {
            return at + first(mask);
        }
        at += WORD;
    }
    tail(bytes, at, |byte| !stops(byte))
}

/// The first index from `at` on whose byte is no decimal digit; the length of `bytes` if there is none.
#[inline]
pub(crate) fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = word(bytes, at) {
        let mask = non_digit_mask(word);
        if mask != 0 {
            return at + first(mask);
        }
        at += WORD;
    }
    tail(bytes, at, |byte| byte.is_ascii_digit())
}

#[inline]
fn stops(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..)?.first_chunk::<WORD>()?;
    Some(u64::from_le_bytes(*word))
}

#[inline]
fn stop_mask(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGH
}

#[inline]
fn non_digit_mask(word: u64) -> u64 {
    let digit = word ^ (ONES * b'0' as u64);
    (((digit & !HIGH) + ONES * 0x76) | digit) & HIGH
}

#[inline]
fn first(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

#[inline]
fn tail(bytes: &[u8], at: usize, goes_on: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .position(|&byte| !goes_on(byte))
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests;
