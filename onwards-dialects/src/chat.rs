//! OpenAI Chat Completions, spoken by clients, by OpenAI and compatible servers, and by Azure (spec providers 3.0.7, 3.1, 3.2).
