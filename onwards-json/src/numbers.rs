//! Long lists of numbers, 64 bytes a step: embeddings and tokens.
//!
//! Each class of bytes becomes a mask of a bit a byte, and each rule of the grammar a few operations on
//! masks. They only ever prove: what they cannot (an exponent, a bracket, a mistake) is left to the scan
//! that goes number by number, which knows all of the grammar and where a mistake is.

use wide::u8x16;

use crate::block::{BLOCK, digits, is};

const STEP: usize = 64;

/// `at` is where a number starts inside an array. What is returned is where a number starts, too; all
/// between them are numbers without exponent and of less than 128 bytes, with a comma and at most one
/// space behind each.
#[inline(never)]
pub(crate) fn proven_to(bytes: &[u8], mut at: usize) -> usize {
    let mut proven = at;
    let mut before = Before {
        gap: 1,
        ..Before::default()
    };
    while let Some(step) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let (starts, wrong) = Masks::of(step).judge(&mut before);
        // The bits up to the first wrong one, which is included: a number may start there.
        let sound = wrong ^ wrong.wrapping_sub(1);
        if starts & sound != 0 {
            proven = at + (starts & sound).ilog2() as usize;
        }
        if wrong != 0 || starts == 0 {
            break;
        }
        at += STEP;
    }
    proven
}

/// Which bytes of a step are what; the first byte has the lowest bit.
struct Masks {
    digit: u64,
    zero: u64,
    comma: u64,
    space: u64,
    minus: u64,
    dot: u64,
}

/// What the last byte of the step before was, 0 or 1 each.
#[derive(Default)]
struct Before {
    digit: u64,
    comma: u64,
    /// A comma or a space.
    gap: u64,
    dot: u64,
    /// The minus of a number.
    sign: u64,
    /// A zero a number starts with.
    zero: u64,
    /// A digit behind a dot.
    fraction: u64,
}

impl Masks {
    #[inline]
    fn of(step: &[u8; STEP]) -> Self {
        let (blocks, _) = step.as_chunks::<BLOCK>();
        let mask = |class: &dyn Fn(u8x16) -> u8x16| {
            let bits = |block: &[u8; BLOCK]| u64::from(class(u8x16::new(*block)).to_bitmask());
            let bits = blocks.iter().rev().map(bits);
            bits.fold(0, |mask, bits| mask << BLOCK | bits)
        };
        Self {
            digit: mask(&digits),
            zero: mask(&|block| is(block, b'0')),
            comma: mask(&|block| is(block, b',')),
            space: mask(&|block| is(block, b' ')),
            minus: mask(&|block| is(block, b'-')),
            dot: mask(&|block| is(block, b'.')),
        }
    }

    /// Where numbers start, and the bytes that break a rule or have none.
    #[inline]
    fn judge(&self, before: &mut Before) -> (u64, u64) {
        let Self {
            digit,
            zero,
            comma,
            space,
            minus,
            dot,
        } = *self;
        let start = after(comma | space, &mut before.gap) & !space;
        let signed = after(start & minus, &mut before.sign);
        let integer = (start & !minus) | signed;
        let after_zero = after(integer & zero, &mut before.zero);
        let after_digit = after(digit, &mut before.digit);
        let after_dot = after(dot, &mut before.dot);
        let after_comma = after(comma, &mut before.comma);
        // A carry runs through the digits behind a dot and sets the bit where they end.
        let (carried, on) = digit.overflowing_add(after_dot | before.fraction);
        before.fraction = u64::from(on);
        let fraction_end = carried & !digit;

        let wrong = !(digit | comma | space | minus | dot)
            | (minus & !start)
            | (integer & !digit)
            | (after_zero & digit)
            | (dot & !after_digit)
            | (dot & fraction_end)
            | (after_dot & !digit)
            | (comma & !after_digit)
            | (space & !after_comma);
        (start & (digit | minus), wrong)
    }
}

/// The bytes behind those of a mask.
#[inline]
fn after(mask: u64, before: &mut u64) -> u64 {
    let after = mask << 1 | *before;
    *before = mask >> (u64::BITS - 1);
    after
}

#[cfg(test)]
mod tests;
