//! Numbers in [0, 1) from random or hashed bits.

/// The upper 53 bits of `bits` as a number in [0, 1), evenly spread when the bits are.
///
/// Order is kept: a greater number of bits never gives a smaller point.
#[must_use]
pub fn point(bits: u64) -> f64 {
    const STEPS: f64 = (1_u64 << 53) as f64;
    (bits >> 11) as f64 / STEPS
}

/// A whole number in `0..bound` from random bits; 0 for a bound of 0.
///
/// Each number is hit by the same count of bit patterns, give or take one.
pub(crate) fn below(bound: u64, bits: u64) -> u64 {
    // The product of two 64-bit numbers, shifted by 64, fits 64 bits.
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests;
