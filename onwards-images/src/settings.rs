//! What may be fetched, and how much of it.

use std::time::Duration;

/// Bounds and permissions of a [`Fetcher`](crate::Fetcher). The default is what the gateway uses where its file says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Most bytes of one picture.
    pub max_bytes: usize,
    /// Most bytes of all pictures of one request.
    pub max_total_bytes: usize,
    /// From the start of a request's first picture to the end of its last.
    pub timeout: Duration,
    /// Most addresses that one request may name.
    pub max_images: usize,
    /// Most redirects that are followed for one picture.
    pub max_redirects: usize,
    /// If there are any, only these hosts are asked: names or addresses, in full and without ports; `*.` before a name stands for
    /// every name below it.
    pub allow_hosts: Vec<String>,
    /// Whether addresses that are not public may be asked.
    pub allow_private: bool,
    /// Whether pictures are fetched without TLS.
    pub allow_http: bool,
    /// The types that are pictures, of `image/jpeg`, `image/png`, `image/gif` and `image/webp`.
    pub mime_types: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_bytes: 10 * 1024 * 1024,
            max_total_bytes: 64 * 1024 * 1024,
            timeout: Duration::from_secs(10),
            max_images: 20,
            max_redirects: 3,
            allow_hosts: Vec::new(),
            allow_private: false,
            allow_http: false,
            mime_types: ["image/jpeg", "image/png", "image/gif", "image/webp"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}
