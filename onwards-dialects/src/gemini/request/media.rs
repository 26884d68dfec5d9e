//! Pictures, documents, sound and films.

use std::borrow::Cow;

use onwards_json::Value;

use super::Writer;
use crate::conversation::Placed;
use crate::conversation::media::{inline, is_web};
use crate::data_uri;
use crate::failure::Rejected;
use crate::gemini::client::is_kept;
use crate::gemini::wire::member;
use crate::options::ImageUrls;
use crate::request::{PartKind, Source};
use crate::text::{Str, value};
use crate::write::{Arr, Obj};

impl Writer<'_, '_> {
    /// A part that is neither text nor a call nor a result.
    pub(super) fn media(
        &mut self,
        placed: &Placed<'_>,
        list: &mut Arr<'_>,
    ) -> Result<(), Rejected> {
        let pointer = placed.pointer();
        match &placed.part.kind {
            PartKind::Image { source, detail } => {
                if detail.as_ref().is_some_and(|detail| !detail.is("auto")) {
                    self.report.dropped("detail");
                }
                self.source(source, None, &pointer, list)
            }
            PartKind::File { source, name } => self.source(source, name.as_ref(), &pointer, list),
            PartKind::Other { kind, json } => {
                let kind = kind.decoded();
                if self.own() && kind == "fileData" {
                    list.raw(json);
                    return Ok(());
                }
                let part = value(json);
                let part = part.as_ref();
                let written = match &*kind {
                    "input_audio" => part.and_then(sound),
                    "video_url" => part.and_then(film),
                    _ => None,
                };
                let source =
                    written.ok_or_else(|| Rejected::content(&pointer, "a part of this type"))?;
                write(&source, list);
                Ok(())
            }
            _ => Err(Rejected::content(&pointer, "a part of this type")),
        }
    }

    fn source(
        &mut self,
        source: &Source<'_>,
        name: Option<&Str<'_>>,
        pointer: &str,
        list: &mut Arr<'_>,
    ) -> Result<(), Rejected> {
        if let Source::Url(url) = source {
            let forward = self.settings.options.image_urls == ImageUrls::Forward;
            if is_kept(url) || (forward && is_web(url)) {
                list.object(|o| file(url, o));
                return Ok(());
            }
        }
        let found = inline(source, pointer, self.settings, &[])?;
        if name.is_some() && !self.own() {
            self.report.dropped("filename");
        }
        list.object(|o| {
            o.object("inlineData", |o| {
                o.text("mimeType", &found.mime);
                o.str("data", &found.base64);
                // Only the client's own dialect says that names are known here.
                if let Some(name) = name.filter(|_| self.own()) {
                    o.str("displayName", name);
                }
            });
        });
        Ok(())
    }
}

/// A file that Google can read itself. Its media type is wanted by some of its services, and guessed.
fn file(url: &Str<'_>, o: &mut Obj<'_>) {
    o.object("fileData", |o| {
        if let Some(mime) = guessed(&url.decoded()) {
            o.text("mimeType", mime);
        }
        o.str("fileUri", url);
    });
}

/// The media type that the end of an address tells.
fn guessed(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, end) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(match &*end.to_ascii_lowercase() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "mp3" => "audio/mp3",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        _ => return None,
    })
}

fn write(source: &Source<'_>, list: &mut Arr<'_>) {
    list.object(|o| match source {
        Source::Data { mime, base64 } => o.object("inlineData", |o| {
            o.str("mimeType", mime);
            o.str("data", base64);
        }),
        Source::Url(url) | Source::Id(url) => file(url, o),
    });
}

/// Sound in the shape of Chat Completions.
fn sound<'a>(part: &Value<'a>) -> Option<Source<'a>> {
    let audio = member(part, "input_audio")?;
    let data = Str::of(&member(&audio, "data")?)?;
    let format = member(&audio, "format")?.as_str()?;
    let base64 = match data_uri::standard(&data.decoded()).ok()? {
        Cow::Borrowed(_) => data.clone(),
        Cow::Owned(base64) => Str::owned(base64),
    };
    Some(Source::Data {
        mime: Str::owned(format!("audio/{format}")),
        base64,
    })
}

/// A film in the shape that compatible servers give it: bytes, or an address that Google reads itself.
fn film<'a>(part: &Value<'a>) -> Option<Source<'a>> {
    let url = Str::of(&member(&member(part, "video_url")?, "url")?)?;
    match data_uri::read(&url) {
        Some(source) => source.ok(),
        None => (is_kept(&url) || is_web(&url)).then_some(Source::Url(url)),
    }
}
