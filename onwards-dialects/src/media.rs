//! Pictures and documents that stand in a request themselves: `data:` addresses, and what bytes say of themselves (spec
//! providers 3.0.5).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::request::Source;
use crate::text::Str;

/// The media type of a picture or a document by its first twelve bytes.
pub(crate) fn sniff(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

/// The same for base64.
pub(crate) fn sniff_base64(base64: &str) -> Option<&'static str> {
    let head = base64.get(..16.min(base64.len() / 4 * 4))?;
    sniff(&STANDARD.decode(head).ok()?)
}

/// What an address of a picture or a document means: the bytes that a `data:` address holds, anything else as it is.
///
/// The bytes come out in padded base64 of the standard alphabet, borrowed if they were written that way. The media type is what
/// the bytes say, else what the address says, in lower case.
///
/// # Errors
/// What is wrong with a `data:` address.
pub(crate) fn source<'a>(address: &Str<'a>) -> Result<Source<'a>, &'static str> {
    if let Some(text) = address.borrowed() {
        return Ok(match data(text)? {
            Some((mime, base64)) => Source::Data {
                mime,
                base64: match base64 {
                    Cow::Borrowed(base64) => Str::plain(base64),
                    Cow::Owned(base64) => Str::owned(base64),
                },
            },
            None => Source::Url(address.clone()),
        });
    }
    Ok(match data(&address.decoded())? {
        Some((mime, base64)) => Source::Data {
            mime: mime.into_owned(),
            base64: Str::owned(base64.into_owned()),
        },
        None => Source::Url(address.clone()),
    })
}

/// Media type and base64 of what may be a `data:` address or base64 alone, as files are sent.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn file<'a>(data: &Str<'a>, mime: &'static str) -> Result<Source<'a>, &'static str> {
    match source(data)? {
        Source::Url(_) => {}
        found => return Ok(found),
    }
    let base64 = match data.borrowed() {
        Some(text) => match standard(Cow::Borrowed(text))? {
            Cow::Borrowed(base64) => Str::plain(base64),
            Cow::Owned(base64) => Str::owned(base64),
        },
        None => Str::owned(standard(data.decoded())?.into_owned()),
    };
    let mime = sniff_base64(&base64.decoded()).unwrap_or(mime);
    let mime = Str::plain(mime);
    Ok(Source::Data { mime, base64 })
}

type Data<'t> = (Str<'t>, Cow<'t, str>);

fn data(address: &str) -> Result<Option<Data<'_>>, &'static str> {
    let Some((scheme, rest)) = address.split_once(':') else {
        return Ok(None);
    };
    if !scheme.trim_start().eq_ignore_ascii_case("data") {
        return Ok(None);
    }
    let (head, body) = rest
        .split_once(',')
        .ok_or("a `data:` address needs a comma before its data")?;
    let mut parameters = head.split(';').map(str::trim);
    let said = parameters.next().unwrap_or_default();
    let base64 = if parameters.any(|parameter| parameter.eq_ignore_ascii_case("base64")) {
        let body = if body.contains('%') {
            let bytes = percent_decoded(body);
            Cow::Owned(String::from_utf8(bytes).map_err(|_| NOT_BASE64)?)
        } else {
            Cow::Borrowed(body)
        };
        standard(body)?
    } else {
        Cow::Owned(STANDARD.encode(percent_decoded(body)))
    };
    let mime = match sniff_base64(&base64) {
        Some(sniffed) => Str::plain(sniffed),
        None if said.is_empty() => Str::plain("text/plain"),
        None if said.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            Str::owned(said.to_ascii_lowercase())
        }
        None => Str::plain(said),
    };
    Ok(Some((mime, base64)))
}

const NOT_BASE64: &str = "its data is no base64";

/// Padded base64 of the standard alphabet, made of any other.
fn standard(text: Cow<'_, str>) -> Result<Cow<'_, str>, &'static str> {
    let letters = text.trim_end_matches('=');
    let clean = letters
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    if clean && text.len().is_multiple_of(4) && text.len() - letters.len() <= 2 {
        return Ok(text);
    }
    let mut out = String::with_capacity(text.len() + 3);
    for letter in letters.chars() {
        match letter {
            '-' => out.push('+'),
            '_' => out.push('/'),
            '+' | '/' => out.push(letter),
            letter if letter.is_ascii_alphanumeric() => out.push(letter),
            letter if letter.is_ascii_whitespace() => {}
            _ => return Err(NOT_BASE64),
        }
    }
    match out.len() % 4 {
        1 => return Err(NOT_BASE64),
        2 => out.push_str("=="),
        3 => out.push('='),
        _ => {}
    }
    Ok(Cow::Owned(out))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digits = ahead.next().zip(ahead.next());
        let value = digits.and_then(|(high, low)| Some(digit(high)? << 4 | digit(low)?));
        match value {
            Some(value) if byte == b'%' => {
                out.push(value);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    out
}

fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::{file, source};
    use crate::request::Source;
    use crate::text::Str;

    #[track_caller]
    fn check(address: &str, expected: Result<(&str, &str), &'static str>) {
        let found = source(&Str::plain(address)).map(|source| match source {
            Source::Data { mime, base64 } => {
                (mime.decoded().into_owned(), base64.decoded().into_owned())
            }
            other => panic!("{other:?}"),
        });
        let expected = expected.map(|(mime, data)| (mime.to_owned(), data.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_data_address_is_its_bytes() {
        let png = "iVBORw0KGgoAAAANSUhEUg==";
        check(
            &format!("data:image/png;base64,{png}"),
            Ok(("image/png", png)),
        );
        check(
            &format!("DATA:Image/JPG;name=a;BASE64,{png}"),
            Ok(("image/png", png)),
        );
        check("data:IMAGE/Tiff;base64,AAAA", Ok(("image/tiff", "AAAA")));
        check("data:image/x;base64,_-8", Ok(("image/x", "/+8=")));
        check("data:image/x;base64,AA%2BA", Ok(("image/x", "AA+A")));
        check("data:image/x;base64,AA\nAA", Ok(("image/x", "AAAA")));
        check("data:,a%20b%", Ok(("text/plain", "YSBiJQ==")));
        check("data:image/x;base64,A", Err("its data is no base64"));
        check("data:image/x;base64,é", Err("its data is no base64"));
        check("data:image/x;base64,%ff", Err("its data is no base64"));
        check(
            "data:image/x",
            Err("a `data:` address needs a comma before its data"),
        );
        check("data:;base64,", Ok(("text/plain", "")));
    }

    #[test]
    fn other_addresses_stay() {
        let address = Str::plain("https://a.test/data:x,y");
        assert_eq!(source(&address), Ok(Source::Url(address.clone())));
    }

    #[test]
    fn a_file_may_be_base64_alone() {
        let data = Str::plain("JVBERi0xLjQKJcOk");
        let found = file(&data, "text/plain");
        assert_eq!(
            found,
            Ok(Source::Data {
                mime: Str::plain("application/pdf"),
                base64: data
            })
        );
        assert_eq!(
            file(&Str::plain("https://"), "x"),
            Err("its data is no base64")
        );
    }
}
