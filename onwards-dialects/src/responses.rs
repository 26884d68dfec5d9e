//! OpenAI Responses, spoken by clients (spec providers 4.4).
