//! Where providers of this dialect are asked.

/// The path at OpenAI and compatible servers.
pub(crate) const PATH: &str = "/v1/chat/completions";

/// The path at Azure: of its `v1` interface, where the body names the model, or else of a deployment.
pub(crate) fn azure_path(model: &str, api_version: &str, v1: bool) -> String {
    if v1 {
        return "/openai/v1/chat/completions".to_owned();
    }
    let mut path = String::from("/openai/deployments/");
    escape(model, &mut path);
    path.push_str("/chat/completions?api-version=");
    escape(api_version, &mut path);
    path
}

/// Percent-encodes all but unreserved characters.
fn escape(text: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| {
        DIGITS
            .get(usize::from(nibble))
            .map_or('0', |d| char::from(*d))
    };
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                out.push('%');
                out.push(digit(byte >> 4));
                out.push(digit(byte & 15));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::azure_path;

    #[test]
    fn azure_is_asked_by_deployment_or_by_its_own_v1() {
        assert_eq!(
            azure_path("gpt 4/ö?x", "2024-10-21&a", false),
            "/openai/deployments/gpt%204%2F%C3%B6%3Fx/chat/completions?api-version=2024-10-21%26a"
        );
        assert_eq!(
            azure_path("gpt-4o", "2024-10-21", true),
            "/openai/v1/chat/completions"
        );
    }
}
