//! Anthropic Messages, spoken by clients and by Anthropic (spec providers 3.3, 4.2).
