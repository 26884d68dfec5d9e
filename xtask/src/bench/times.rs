//! Reads what divan prints: the best time of each shape.

use std::collections::HashMap;

/// The fastest sample of each shape in nanoseconds, by the shape's name. Lines that are none of a shape are passed over.
pub(super) fn read(printed: &str) -> HashMap<String, f64> {
    printed.lines().filter_map(line).collect()
}

/// Reads `├─ NAME  FASTEST UNIT  │ …`.
fn line(line: &str) -> Option<(String, f64)> {
    let (head, _) = line.split_once('│')?;
    let mut words = head
        .trim_start()
        .strip_prefix(['├', '╰'])?
        .trim_start_matches('─')
        .split_whitespace();
    let (name, number, unit) = (words.next()?, words.next()?, words.next()?);
    let scale = match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some((name.to_owned(), number * scale))
}
