//! Turns as providers with strict roles want them (spec providers 3.0.3).
