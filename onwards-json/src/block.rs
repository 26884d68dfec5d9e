//! Where a run of harmless bytes ends: 16 bytes a step, without a branch that depends on the place.
//!
//! A step compares all bytes of a block at once and yields a mask with a bit for each: the place of the
//! first that stops the run is a count of zeros.

use wide::u8x16;

/// The bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Blocks a long run is first tested by: only whether anything stops it.
const LONG: usize = 64;
/// So much is looked at block by block before a run is taken for a long one: lines of prose are not.
const MEDIUM: usize = 128;

/// The first index from `at` on whose byte is a quote, a backslash or a control character below 0x20;
/// the length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    // Names and most values are short: one block settles them.
    match block(bytes, at).map(|block| stops(block).to_bitmask()) {
        None => tail(bytes, at, stops),
        Some(0) => long_plain_end(bytes, at + BLOCK),
        Some(mask) => at + first(mask),
    }
}

/// The same as [`plain_end`], at its best when the run is long.
#[inline(never)]
pub(crate) fn long_plain_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        for _ in 0..MEDIUM / BLOCK {
            let Some(block) = block(bytes, at) else {
                return tail(bytes, at, stops);
            };
            let mask = stops(block).to_bitmask();
            if mask != 0 {
                return at + first(mask);
            }
            at += BLOCK;
        }
        while let Some(long) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LONG>()) {
            let (blocks, _) = long.as_chunks::<BLOCK>();
            let hits = blocks.iter().map(|block| stops(u8x16::new(*block)));
            if hits.fold(u8x16::ZERO, |any, hits| any | hits).to_bitmask() != 0 {
                break;
            }
            at += LONG;
        }
    }
}

/// The first index from `at` on whose byte is no decimal digit; the length of `bytes` if there is none.
#[inline]
pub(crate) fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = block(bytes, at) {
        let mask = (!digits(block)).to_bitmask();
        if mask != 0 {
            return at + first(mask);
        }
        at += BLOCK;
    }
    tail(bytes, at, |block| !digits(block))
}

/// Ones in the bytes that end the plain part of a string.
#[inline]
fn stops(block: u8x16) -> u8x16 {
    let control = block.min(u8x16::splat(0x1F)).simd_eq(block);
    is(block, b'"') | is(block, b'\\') | control
}

/// Ones in the bytes that are decimal digits.
#[inline]
pub(crate) fn digits(block: u8x16) -> u8x16 {
    let value = block - u8x16::splat(b'0');
    value.min(u8x16::splat(9)).simd_eq(value)
}

/// Ones in the bytes that are this one.
#[inline]
pub(crate) fn is(block: u8x16, byte: u8) -> u8x16 {
    block.simd_eq(u8x16::splat(byte))
}

#[inline]
fn block(bytes: &[u8], at: usize) -> Option<u8x16> {
    let block = bytes.get(at..)?.first_chunk()?;
    Some(u8x16::new(*block))
}

#[inline]
fn first(mask: u32) -> usize {
    mask.trailing_zeros() as usize
}

/// The end of the text, shorter than a block: the last whole block, without what lies before.
#[inline(never)]
fn tail(bytes: &[u8], at: usize, stops: impl Fn(u8x16) -> u8x16) -> usize {
    let (block, start) = match bytes.last_chunk() {
        Some(block) => (*block, bytes.len() - BLOCK),
        None => {
            let mut block = [0; BLOCK];
            block
                .iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            (block, 0)
        }
    };
    let mask = stops(u8x16::new(block)).to_bitmask();
    let before = at.saturating_sub(start) as u32;
    let mask = mask.checked_shr(before).unwrap_or_default();
    bytes.len().min(at + first(mask))
}

#[cfg(test)]
mod tests;
