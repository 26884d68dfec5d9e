//! How fast a bucket refills and how much it holds, and the same in whole units.

use thiserror::Error;

/// A refill rate and a capacity, both checked.
///
/// Two rates are equal when both numbers are; a bucket given an equal rate on reload keeps its
/// level untouched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    per_second: f64,
    burst: u32,
}

/// Why two numbers are not a rate.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RateError {
    /// The refill rate is zero, negative, infinite or not a number.
    #[error("requests per second must be a finite number above zero, found {found}")]
    PerSecond {
        /// The number given.
        found: f64,
    },
    /// The capacity is zero, so that no request could ever pass.
    #[error("burst must be at least 1, found 0")]
    Burst,
}

impl Rate {
    /// A bucket of `burst` tokens (at least 1) that gains `per_second` tokens a second (finite,
    /// above zero).
    ///
    /// Rates from 2⁻¹⁰ a second are kept exactly as given, slower ones with a relative error below
    /// 10⁻⁶ as far as one request in 100,000 years. More than 2⁶⁴ a second count as 2⁶⁴.
    ///
    /// # Errors
    ///
    /// [`RateError::PerSecond`] or [`RateError::Burst`] when a number is out of its range.
    pub fn new(per_second: f64, burst: u32) -> Result<Self, RateError> {
        if !(per_second.is_finite() && per_second > 0.0) {
            return Err(RateError::PerSecond { found: per_second });
        }
        if burst == 0 {
            return Err(RateError::Burst);
        }
        Ok(Self { per_second, burst })
    }

    /// The same, with a capacity of one second's worth of tokens, rounded up: at least 1, at
    /// most `u32::MAX`.
    ///
    /// # Errors
    ///
    /// [`RateError::PerSecond`] when the rate is out of its range.
    pub fn with_default_burst(per_second: f64) -> Result<Self, RateError> {
        // A cast from a float saturates; a rate that is not a number is refused by `new`.
        Self::new(per_second, (per_second.ceil() as u32).max(1))
    }

    /// Tokens gained per second.
    #[must_use]
    pub fn per_second(self) -> f64 {
        self.per_second
    }

    /// Tokens held when full.
    #[must_use]
    pub fn burst(self) -> u32 {
        self.burst
    }

    pub(crate) fn units(self) -> Units {
        let mut scale = 0;
        let mut scaled = self.per_second;
        while scale < Units::MAX_SCALE && scaled.fract() != 0.0 {
            scaled *= 2.0;
            scale += 1;
        }
        let token = u128::from(NANOS_PER_SECOND) << scale;
        Units {
            scale,
            per_nano: (scaled.round() as u64).max(1),
            token,
            full: token * u128::from(self.burst),
        }
    }
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A rate in whole units, so that filling and spending are integer sums without rounding.
///
/// A float is an integer times a power of two. With a token cut into `10⁹ · 2^scale` units and
/// `scale` chosen so that `rate · 2^scale` is whole, each nanosecond brings a whole number of
/// units. A token is below 2⁹² units and a full bucket below 2¹²⁴, so sums fit `u128`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    /// Power of two a token is cut finer by.
    pub(crate) scale: u32,
    /// Units gained per nanosecond, at least 1.
    pub(crate) per_nano: u64,
    /// Units of one token.
    pub(crate) token: u128,
    /// Units of a full bucket.
    pub(crate) full: u128,
}

impl Units {
    const MAX_SCALE: u32 = 62;
}

#[cfg(test)]
mod tests;
