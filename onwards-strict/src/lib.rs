//! OpenAI's contract: request checks, answer and chunk cleaning, error masking.
