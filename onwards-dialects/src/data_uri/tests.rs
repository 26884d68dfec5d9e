use super::{read, standard};
use crate::request::Source;
use crate::text::{Str, value};

fn check(url: &str, expected: &str) {
    let found = match read(&Str::plain(url)) {
        None => "no data".to_owned(),
        Some(Err(why)) => format!("wrong: {why}"),
        Some(Ok(Source::Data { mime, base64 })) => {
            format!("{} {}", mime.decoded(), base64.decoded())
        }
        Some(Ok(other)) => format!("{other:?}"),
    };
    assert_eq!(found, expected, "{url}");
}

#[test]
fn every_spelling_of_a_data_address_is_read() {
    check("https://example.org/a.png", "no data");
    check("data.png", "no data");
    check("data:image/bmp;base64,Qk0=", "image/bmp Qk0=");
    check("DATA:IMAGE/BMP;BASE64,Qk0=", "image/bmp Qk0=");
    check("data:image/bmp;name=a.bmp;base64,Qk0=", "image/bmp Qk0=");
    check("data:image/bmp;base64,Qk0%3D", "image/bmp Qk0=");
    check("data:image/bmp;base64,Qk0", "image/bmp Qk0=");
    check("data:image/bmp;base64,Qk\r\n0=", "image/bmp Qk0=");
    check("data:image/bmp;base64,-_-_", "image/bmp +/+/");
    check("data:,a%20b%", "text/plain YSBiJQ==");
    check("data:image/svg+xml,<svg/>", "image/svg+xml PHN2Zy8+");
    check("data:image/jpg;base64,AAAA", "image/jpeg AAAA");
    check("data:image/png", "wrong: a data: address without a comma");
    check("data:image/png;base64,AAAAA", "wrong: not base64");
    check("data:image/png;base64,AA!A", "wrong: not base64");
}

#[test]
fn the_first_bytes_tell_the_media_type() {
    check(
        "data:image/jpeg;base64,iVBORw0KGgo=",
        "image/png iVBORw0KGgo=",
    );
    check("data:image/png;base64,/9j/4AAQ", "image/jpeg /9j/4AAQ");
    check("data:;base64,R0lGODlhAQAB", "image/gif R0lGODlhAQAB");
    check(
        "data:image/png;base64,UklGRgAAAABXRUJQ",
        "image/webp UklGRgAAAABXRUJQ",
    );
    check(
        "data:application/octet-stream;base64,JVBERi0xLjc=",
        "application/pdf JVBERi0xLjc=",
    );
}

#[test]
fn an_escaped_address_and_a_long_one_are_read() {
    let escaped = value(r#""data:image\/png;base64,iVBORw0KGgo=""#).unwrap();
    let source = read(&Str::of(&escaped).unwrap()).unwrap().unwrap();
    let expected = Source::Data {
        mime: Str::plain("image/png"),
        base64: Str::plain("iVBORw0KGgo="),
    };
    assert_eq!(source, expected);
    assert!(matches!(
        standard("AAAA"),
        Ok(std::borrow::Cow::Borrowed(_))
    ));
}
