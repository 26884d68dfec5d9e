//! `data:` addresses, in all the ways clients write them (spec providers 3.0.5).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::request::Source;
use crate::text::Str;

/// What a `data:` address holds, in standard base64 under the media type that its first bytes tell, or else its own.
///
/// `None` for an address of another scheme.
///
/// # Errors
/// What is wrong with the address.
pub(crate) fn read<'a>(url: &Str<'a>) -> Option<Result<Source<'a>, &'static str>> {
    match url.borrowed() {
        Some(text) => parts(text).map(|parts| source(&parts?)),
        None => parts(&url.decoded()).map(|parts| source(&parts?).map(owned)),
    }
}

/// The media type of a picture or document by its first bytes, `start` being the beginning of its base64.
pub(crate) fn sniff(start: &str) -> Option<&'static str> {
    let head = start.as_bytes().get(..24.min(start.len() / 4 * 4))?;
    let bytes = STANDARD.decode(head).ok()?;
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let later = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|b| b.starts_with(magic));
    Some(match () {
        () if starts(b"\x89PNG\r\n\x1a\n") => "image/png",
        () if starts(b"\xff\xd8\xff") => "image/jpeg",
        () if starts(b"GIF87a") || starts(b"GIF89a") => "image/gif",
        () if starts(b"RIFF") && later(8, b"WEBP") => "image/webp",
        () if later(4, b"ftypavif") => "image/avif",
        () if later(4, b"ftypheic") || later(4, b"ftypheix") => "image/heic",
        () if later(4, b"ftypmif1") => "image/heif",
        () if starts(b"%PDF-") => "application/pdf",
        () => return None,
    })
}

/// Base64 with the standard alphabet and its padding; borrowed if it is that already.
///
/// # Errors
/// For what is not base64 in either alphabet, white space left out.
pub(crate) fn standard(data: &str) -> Result<Cow<'_, str>, &'static str> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let digits = data.trim_end_matches('=');
    let padding = data.len() - digits.len();
    if padding <= 2 && data.len().is_multiple_of(4) && digits.bytes().all(|byte| plain(&byte)) {
        return Ok(Cow::Borrowed(data));
    }
    let mut out = String::with_capacity(data.len() + 2);
    for character in digits.chars() {
        match character {
            '-' => out.push('+'),
            '_' => out.push('/'),
            c if c.is_ascii_whitespace() || c == '=' => {}
            c if c.is_ascii_alphanumeric() || matches!(c, '+' | '/') => out.push(c),
            _ => return Err("not base64"),
        }
    }
    match out.len() % 4 {
        0 => {}
        1 => return Err("not base64"),
        over => out.extend(std::iter::repeat_n('=', 4 - over)),
    }
    Ok(Cow::Owned(out))
}

/// Media type, whether the data are base64, and the data.
type Parts<'t> = (&'t str, bool, &'t str);

fn parts(url: &str) -> Option<Result<Parts<'_>, &'static str>> {
    let (scheme, rest) = url.split_once(':')?;
    if !scheme.trim_start().eq_ignore_ascii_case("data") {
        return None;
    }
    let Some((head, data)) = rest.split_once(',') else {
        return Some(Err("a data: address without a comma"));
    };
    let mut words = head.split(';').map(str::trim);
    let mime = words.next().unwrap_or_default();
    let base64 = words.any(|word| word.eq_ignore_ascii_case("base64"));
    Some(Ok((mime, base64, data)))
}

fn source<'t>(&(mime, base64, data): &Parts<'t>) -> Result<Source<'t>, &'static str> {
    let data = match (base64, data.contains('%')) {
        (true, false) => standard(data)?,
        (true, true) => {
            let text = String::from_utf8(unescaped(data)).map_err(|_| "not base64")?;
            Cow::Owned(standard(&text)?.into_owned())
        }
        (false, _) => Cow::Owned(STANDARD.encode(unescaped(data))),
    };
    let mime = match (sniff(&data), mime) {
        (Some(found), said) if !said.eq_ignore_ascii_case(found) => Str::plain(found),
        (None, "") => Str::plain("text/plain"),
        (None, said) if said.eq_ignore_ascii_case("image/jpg") => Str::plain("image/jpeg"),
        (_, said) if said.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            Str::owned(said.to_ascii_lowercase())
        }
        (_, said) => Str::plain(said),
    };
    let base64 = match data {
        Cow::Borrowed(data) => Str::plain(data),
        Cow::Owned(data) => Str::owned(data),
    };
    Ok(Source::Data { mime, base64 })
}

fn owned(source: Source<'_>) -> Source<'static> {
    match source {
        Source::Data { mime, base64 } => Source::Data {
            mime: mime.into_owned(),
            base64: base64.into_owned(),
        },
        Source::Url(url) => Source::Url(url.into_owned()),
        Source::Id(id) => Source::Id(id.into_owned()),
    }
}

/// Percent-encoding taken off; a `%` that starts no code stays.
fn unescaped(data: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut rest = data.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        let code = (*first == b'%')
            .then(|| more.split_first_chunk::<2>())
            .flatten()
            .and_then(|([high, low], behind)| Some((hex(*high)? << 4 | hex(*low)?, behind)));
        match code {
            Some((byte, behind)) => {
                out.push(byte);
                rest = behind;
            }
            None => out.push(*first),
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests;
