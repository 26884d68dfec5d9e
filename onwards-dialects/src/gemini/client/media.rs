//! Pictures, documents, sound and films.

use std::borrow::Cow;

use onwards_json::Value;

use super::{both, other};
use crate::conversation::media::is_web;
use crate::data_uri::standard;
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{Part, PartKind, Source};
use crate::text::{Str, json};
use crate::write::object;

/// Bytes in the request. Google's own clients write them in the alphabet for addresses.
pub(super) fn inline<'a>(
    inline: &Value<'a>,
    at: At<'_>,
    report: &mut Report,
) -> Result<Part<'a>, Rejected> {
    let mut fields = Fields::of(inline, at)?;
    let mime = mime(&mut fields)?.ok_or_else(|| at.missing("mimeType", "a string"))?;
    let data = fields.need_str("data")?;
    let base64 = match data.borrowed() {
        Some(text) => standard(text).map(|base64| match base64 {
            Cow::Borrowed(base64) => Str::plain(base64),
            Cow::Owned(base64) => Str::owned(base64),
        }),
        None => standard(&data.decoded()).map(|base64| Str::owned(&*base64)),
    };
    let base64 = base64.map_err(|why| At::Member(&at, "data").invalid(why))?;
    let name = both(&mut fields, ["displayName", "display_name"], Fields::str)?;
    for (name, _) in fields.rest() {
        report.dropped(&name.decoded());
    }
    let meant = mime.decoded().into_owned();
    Ok(match meant.split_once('/') {
        Some(("image", _)) => Part::new(PartKind::Image {
            source: Source::Data { mime, base64 },
            detail: None,
        }),
        Some(("audio", kind)) => sound(kind, &base64),
        Some(("video", _)) => film(&format!("data:{meant};base64,{}", base64.decoded())),
        _ => Part::new(PartKind::File {
            source: Source::Data { mime, base64 },
            name,
        }),
    })
}

/// A file somewhere. A picture or a document of the web is what other protocols know; anything else is kept as it is (`part`), for
/// only Google can read it.
pub(super) fn file<'a>(
    file: &Value<'a>,
    part: &Value<'a>,
    at: At<'_>,
    report: &mut Report,
) -> Result<Part<'a>, Rejected> {
    let mut fields = Fields::of(file, at)?;
    let mime = mime(&mut fields)?;
    let uri = both(&mut fields, ["fileUri", "file_uri"], Fields::str)?
        .ok_or_else(|| at.missing("fileUri", "a string"))?;
    let web = is_web(&uri) && !is_kept(&uri);
    let mime = mime.as_ref().map(Str::decoded);
    let kind = match mime.as_deref() {
        Some(mime) if web && mime.starts_with("image/") => PartKind::Image {
            source: Source::Url(uri),
            detail: None,
        },
        Some("application/pdf") if web => PartKind::File {
            source: Source::Url(uri),
            name: both(&mut fields, ["displayName", "display_name"], Fields::str)?,
        },
        _ => return Ok(other("fileData", json(part))),
    };
    for (name, _) in fields.rest() {
        report.dropped(&name.decoded());
    }
    Ok(Part::new(kind))
}

/// True for the address of a file that Gemini's Files API keeps, and for one of Google's storage.
pub(in crate::gemini) fn is_kept(uri: &Str<'_>) -> bool {
    let uri = uri.decoded();
    uri.starts_with("gs://") || uri.starts_with("https://generativelanguage.googleapis.com/")
}

fn mime<'a>(fields: &mut Fields<'a, '_>) -> Result<Option<Str<'a>>, Rejected> {
    let mime = both(fields, ["mimeType", "mime_type"], Fields::str)?;
    Ok(mime.map(|mime| {
        let lower = mime.decoded().to_ascii_lowercase();
        if mime.is(&lower) {
            mime
        } else {
            Str::owned(lower)
        }
    }))
}

/// Sound, as Chat Completions writes it.
fn sound<'a>(kind: &str, base64: &Str<'_>) -> Part<'a> {
    let format = match kind.strip_prefix("x-").unwrap_or(kind) {
        "mpeg" => "mp3",
        "wave" | "vnd.wave" => "wav",
        other => other,
    };
    let mut out = String::new();
    object(&mut out, |o| {
        o.text("type", "input_audio");
        o.object("input_audio", |o| {
            o.str("data", base64);
            o.text("format", format);
        });
    });
    other("input_audio", out)
}

/// A film, as servers write it that are compatible with Chat Completions.
fn film<'a>(url: &str) -> Part<'a> {
    let mut out = String::new();
    object(&mut out, |o| {
        o.text("type", "video_url");
        o.object("video_url", |o| o.text("url", url));
    });
    other("video_url", out)
}
