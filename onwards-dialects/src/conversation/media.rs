//! Pictures and documents as bytes in the request (spec providers 3.0.5).

use std::borrow::Cow;

use crate::data_uri::sniff;
use crate::failure::Rejected;
use crate::options::{ImageUrls, Settings};
use crate::request::Source;
use crate::text::Str;

/// Pictures that anthropic and bedrock take.
pub(crate) const PICTURES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A document that anthropic takes.
pub(crate) const PDF: &[&str] = &["application/pdf"];

/// What a source holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Inline<'s> {
    /// Its media type: by the first bytes where they tell, else as the client said.
    pub(crate) mime: Cow<'s, str>,
    /// The bytes in base64.
    pub(crate) base64: Str<'s>,
}

/// What a source holds, for a provider that takes only `types` (all, if there are none named).
///
/// # Errors
/// `unsupported_content` for another type, an address that is not fetched, or a file at another provider; `image_fetch_failed`
/// for an address that was to be fetched and was not.
pub(crate) fn inline<'s>(
    source: &'s Source<'_>,
    pointer: &str,
    settings: &Settings<'s>,
    types: &[&str],
) -> Result<Inline<'s>, Rejected> {
    let inline = match source {
        Source::Data { mime, base64 } => Inline {
            mime: match sniff(&base64.decoded()) {
                Some(mime) => Cow::Borrowed(mime),
                None => mime.decoded(),
            },
            base64: base64.clone(),
        },
        Source::Url(url) => fetched(url, pointer, settings)?,
        Source::Id(_) => return Err(Rejected::content(pointer, "a file by its id")),
    };
    if types.is_empty() || types.contains(&&*inline.mime) {
        Ok(inline)
    } else {
        Err(Rejected::content(pointer, "this media type"))
    }
}

fn fetched<'s>(
    url: &Str<'_>,
    pointer: &str,
    settings: &Settings<'s>,
) -> Result<Inline<'s>, Rejected> {
    if settings.options.image_urls == ImageUrls::Reject || !is_web(url) {
        return Err(Rejected::content(pointer, "an address of this kind"));
    }
    let picture = settings.pictures.get(&*url.decoded()).ok_or_else(|| {
        Rejected::new(
            "image_fetch_failed",
            Some(pointer.to_owned()),
            format!("{pointer}: the picture was not fetched"),
        )
    })?;
    Ok(Inline {
        mime: Cow::Borrowed(&*picture.mime),
        base64: Str::plain(&picture.base64),
    })
}

/// True for an address that can be fetched.
pub(crate) fn is_web(url: &Str<'_>) -> bool {
    let url = url.decoded();
    ["https:", "http:"].iter().any(|scheme| {
        url.get(..scheme.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    })
}
