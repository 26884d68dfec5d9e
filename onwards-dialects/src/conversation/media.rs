//! Pictures and documents as bytes in the request (spec providers 3.0.5).

use std::borrow::Cow;

use crate::Kind;
use crate::data_uri::sniff;
use crate::failure::Rejected;
use crate::options::{ImageUrls, Options, Settings};
use crate::request::{Part, PartKind, Request, Source};
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

/// The addresses in a request whose content the provider has to be sent, each with where it stands: what has to be in
/// [`Settings::pictures`](crate::Settings) before the request can be written.
#[must_use]
pub fn to_fetch(request: &Request<'_>, kind: Kind, options: &Options) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if options.image_urls != ImageUrls::Fetch {
        return found;
    }
    for (message, turn) in request.messages.iter().enumerate() {
        for (index, part) in turn.parts.iter().enumerate() {
            let pointer = crate::request::pointer(part, message, index);
            match &part.kind {
                PartKind::ToolResult(result) => {
                    for inner in &result.content {
                        found.extend(address(inner, kind).map(|url| (pointer.clone(), url)));
                    }
                }
                _ => found.extend(address(part, kind).map(|url| (pointer, url))),
            }
        }
    }
    found
}

fn address(part: &Part<'_>, kind: Kind) -> Option<String> {
    let (PartKind::Image { source, .. } | PartKind::File { source, .. }) = &part.kind else {
        return None;
    };
    match source {
        Source::Url(url) if is_web(url) && !(kind == Kind::Gemini && is_google_file(url)) => {
            Some(url.decoded().into_owned())
        }
        _ => None,
    }
}

/// True for a file that Gemini keeps itself and is told by its address.
pub(crate) fn is_google_file(url: &Str<'_>) -> bool {
    let url = url.decoded();
    url.strip_prefix("https://generativelanguage.googleapis.com/")
        .is_some_and(|rest| rest.contains("/files/"))
}
