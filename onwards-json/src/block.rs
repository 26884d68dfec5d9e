//! Where a run of harmless bytes ends: many bytes a step, in safe code.
//!
//! What is short is looked at by words in integer registers, with carry tricks; what is long by blocks, in
//! loops the compiler turns into vector compares. Either way a step yields a mask with bits set in the
//! bytes that stop the run, and the place of the first is a count of zeros: no branch depends on it.

const BLOCK: usize = 16;
/// Blocks a long run is first tested by: only whether anything stops it.
const LONG: usize = 64;

/// The first index from `at` on whose byte is a quote, a backslash or a control character below 0x20;
/// the length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    // Names and most values are short: one or two words settle them.
    let Some(block) = block(bytes, at) else {
        return tail(bytes, at, stops);
    };
    let (words, _) = block.as_chunks::<8>();
    let [first, second] = words else {
        return tail(bytes, at, stops);
    };
    let mask = word_mask(*first);
    if mask != 0 {
        return at + (mask.trailing_zeros() / 8) as usize;
    }
    let mask = word_mask(*second);
    if mask != 0 {
        return at + 8 + (mask.trailing_zeros() / 8) as usize;
    }
    long_plain_end(bytes, at + BLOCK)
}

/// A mask whose lowest bit set is in the first byte that stops; higher ones may be carries.
#[inline]
fn word_mask(word: [u8; 8]) -> u64 {
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    let word = u64::from_le_bytes(word);
    let quote = word ^ all(b'"');
    let backslash = word ^ all(b'\\');
    let control = word.wrapping_sub(all(0x20)) & !word;
    let quote = quote.wrapping_sub(all(1)) & !quote;
    let backslash = backslash.wrapping_sub(all(1)) & !backslash;
    (control | quote | backslash) & all(0x80)
}

/// The same as [`plain_end`], at its best when the run is long.
#[inline(never)]
pub(crate) fn long_plain_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        for _ in 0..LONG / BLOCK {
            let Some(block) = block(bytes, at) else {
                return tail(bytes, at, stops);
            };
            let mask = mask(block, stops);
            if mask != 0 {
                return at + first(mask);
            }
            at += BLOCK;
        }
        for long in bytes.get(at..).unwrap_or_default().chunks_exact(LONG) {
            if long.iter().fold(false, |hit, &byte| hit | stops(byte)) {
                break;
            }
            at += LONG;
        }
    }
}

/// The first index from `at` on whose byte is no decimal digit; the length of `bytes` if there is none.
///
/// Numbers are short, and each starts where the last one ended: what counts is the delay, which is shorter
/// for a word in an integer register than for a block, and if a full word does not wait for a count.
#[inline]
pub(crate) fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let digits = u64::from_le_bytes(*word) ^ u64::from_ne_bytes([b'0'; 8]);
        // The high bit of each byte that was no digit: nothing carries from byte to byte.
        let others = (((digits & !HIGH) + u64::from_ne_bytes([0x76; 8])) | digits) & HIGH;
        if others != 0 {
            return at + (others.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    tail(bytes, at, |byte| !byte.is_ascii_digit())
}

#[inline]
fn stops(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

#[inline]
fn block(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk()
}

#[inline]
fn mask(block: &[u8; BLOCK], stops: impl Fn(u8) -> bool) -> u128 {
    u128::from_le_bytes(block.map(|byte| if stops(byte) { 0xFF } else { 0 }))
}

#[inline]
fn first(mask: u128) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

/// The end of the text, shorter than a block.
#[cold]
fn tail(bytes: &[u8], at: usize, stops: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .position(|&byte| stops(byte))
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests;
