//! Which provider answered, for layers around the gateway.

use std::sync::Arc;

use crate::policy::Provider;

/// A response extension that says which provider answered, for layers around the gateway. Responses of the gateway's own,
/// refusals and the list of models, have none; a provider's error that was replaced has one.
///
/// ```
/// use onwards_server::{AppState, ServedBy};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = br#"{"targets": {"demo": {"providers": [{"name": "inside", "url": "builtin:echo"}]}}}"#;
/// let house = AppState::new(onwards_config::read(text, &())?.gateway).build()?;
/// let body = r#"{"model": "demo", "messages": [{"role": "user", "content": "hello"}]}"#;
/// let request = http::Request::post("/v1/chat/completions").body(body.to_owned())?;
/// let response = onwards_server::serve(&house, request).await;
/// let served = response.extensions().get::<ServedBy>().ok_or("no provider answered")?;
/// assert_eq!((served.name(), served.url(), served.model()), ("inside", "builtin:echo", None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ServedBy(pub(super) Arc<Provider>);

impl ServedBy {
    /// The provider's configured name, or its place in the pool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The provider's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The model name the provider was sent, if it is not the client's.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        let text = self.0.model.as_ref()?;
        serde_json::from_str(&text.0).ok()
    }

    /// Whether the provider's errors may be shown to strict clients.
    #[must_use]
    pub fn trusted(&self) -> bool {
        self.0.trusted
    }
}
