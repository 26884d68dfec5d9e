//! The JSON Schema of the file, for editors and other programs that check before they deploy.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of the configuration file.
///
/// It knows types, ranges, spellings and required members, but no rule between two values and no secret;
/// what it accepts [`read`](crate::read()) may still reject. Descriptions, defaults and bounds are those of
/// [`reference`](crate::reference()).
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(crate::spec::Config);
    Tidy.transform(&mut schema);
    schema.to_value()
}

/// Unfolds descriptions, which are folded to the width of the source, and writes out what `uint32` means.
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = unfolded(text);
        }
        if schema
            .get("format")
            .is_some_and(|format| format == "uint32")
            && schema.get("maximum").is_none()
        {
            schema.insert("maximum".to_owned(), u32::MAX.into());
        }
        transform_subschemas(self, schema);
    }
}

/// One line per paragraph.
fn unfolded(text: &str) -> String {
    let paragraphs: Vec<_> = text
        .split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "))
        .collect();
    paragraphs.join("\n\n")
}
