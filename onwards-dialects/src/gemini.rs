//! Gemini generateContent, spoken by clients and by Google (spec providers 3.4, 4.3).
