//! How a request path and a configured base path become the path that is sent (spec C.5).
//!
//! Paths are joined as text and never resolved as references, so nothing a client writes can change scheme, host or
//! port, and a path that tries to climb out of its base with dot segments is refused before it gets here.

/// Joins a base path (`""` or `/a/b`, no trailing slash) and a request path, using a common part once.
///
/// The largest run of segments that ends the base and begins the path is merged: `/api/v1` and `/v1/x` give
/// `/api/v1/x`.
pub(crate) fn join(base: &str, path: &str) -> String {
    let merged = base
        .char_indices()
        .filter(|&(_, character)| character == '/')
        .filter_map(|(at, _)| base.get(at..))
        .find_map(|suffix| {
            path.strip_prefix(suffix)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    let rest = merged.unwrap_or(path);
    let mut joined = String::with_capacity(base.len() + rest.len() + 1);
    joined.push_str(base);
    if !rest.is_empty() && !rest.starts_with('/') {
        joined.push('/');
    }
    joined.push_str(rest);
    joined
}

/// True when a path has a `.` or `..` segment, also percent-encoded, also behind an encoded or a back slash.
pub(crate) fn has_dot_segment(path: &str) -> bool {
    if !path.contains("/.") && !path.contains('%') && !path.contains('\\') {
        return false;
    }
    let decoded = decode_separators(path);
    decoded.split(['/', '\\']).any(|segment| {
        let name = segment.split(';').next().unwrap_or_default();
        name == "." || name == ".."
    })
}

/// Decodes only what can make or separate a dot segment: `%2e`, `%2f` and `%5c`.
fn decode_separators(path: &str) -> String {
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let character = match after.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("2e") => Some('.'),
            Some("2f") => Some('/'),
            Some("5c") => Some('\\'),
            _ => None,
        };
        match character {
            Some(character) => {
                decoded.push(character);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push('%');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

#[cfg(test)]
mod tests {
    use super::{has_dot_segment, join};

    #[test]
    fn a_common_part_is_used_once() {
        for (base, path, joined) in [
            ("", "/v1/x", "/v1/x"),
            ("/v1", "/v1/x", "/v1/x"),
            ("/v1", "/v1", "/v1"),
            ("/v1", "/x", "/v1/x"),
            ("/v1", "/v1x/y", "/v1/v1x/y"),
            ("/api", "/v1/x", "/api/v1/x"),
            ("/api/v1", "/v1/x", "/api/v1/x"),
            ("/api/v1", "/api/v1/x", "/api/v1/x"),
            ("/v1/openai", "/v1/x", "/v1/openai/v1/x"),
            ("/a/b/c", "/b/c/d", "/a/b/c/d"),
            ("", "//other/x", "//other/x"),
            ("/v1", "//other/x", "/v1//other/x"),
            ("", "/http://other/x", "/http://other/x"),
            ("/v1", "/\\\\other/x", "/v1/\\\\other/x"),
            ("", "*", "/*"),
            ("/v1", "*", "/v1/*"),
        ] {
            assert_eq!(join(base, path), joined, "{base} + {path}");
        }
    }

    #[test]
    fn dot_segments_are_seen_however_they_are_written() {
        for path in [
            "/v1/../admin",
            "/v1/..",
            "/..",
            "/./x",
            "/v1/.",
            "/v1/%2e%2e/admin",
            "/v1/.%2E/x",
            "/v1/%2e/x",
            "/v1/..%2fadmin",
            "/v1/x%2f..%2fadmin",
            "/v1/..;/admin",
            "/v1/..\\admin",
            "/v1/..%5cadmin",
            "/v1\\..\\x",
        ] {
            assert!(has_dot_segment(path), "{path}");
        }
        for path in [
            "/",
            "/v1/x",
            "/v1/.well-known",
            "/v1/a..b",
            "/v1/...",
            "/v1/x%20y",
            "/v1/%2e%2e%2e",
            "/v1/%zz",
            "/v1/%",
            "/%2",
        ] {
            assert!(!has_dot_segment(path), "{path}");
        }
    }
}
