//! The JSON Schema of the file, for editors and other programs that check before they deploy.

/// The JSON Schema (draft 2020-12) of the configuration file.
///
/// It knows types, ranges, spellings and required members, but no rule between two values and no secret;
/// what it accepts [`read`](crate::read) may still reject.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(crate::spec::Config).to_value()
}
