use super::*;

fn types() -> Vec<String> {
    crate::Settings::default().mime_types
}

#[test]
fn the_first_bytes_say_what_it_is() {
    let cases: [(&[u8], Option<&str>); 16] = [
        (b"\xff\xd8\xff\xe0..", Some("image/jpeg")),
        (b"\xff\xd8\xff", Some("image/jpeg")),
        (b"\xff\xd8", None),
        (b"\x89PNG\r\n\x1a\n", Some("image/png")),
        (b"\x89PNG\n\x1a\n", None),
        (b"GIF87a", Some("image/gif")),
        (b"GIF89a...", Some("image/gif")),
        (b"GIF88a", None),
        (b"RIFF\x04\x00\x00\x00WEBP", Some("image/webp")),
        (b"RIFF\x04\x00\x00\x00WAVE", None),
        (b"RIFF\x04\x00\x00\x00WEB", None),
        (b"", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"<html>GIF89a", None),
        (b"%PDF-1.7", None),
        (b"BM....", None),
    ];
    for (bytes, expect) in cases {
        assert_eq!(sniff(bytes), expect, "{bytes:?}");
    }
}

#[test]
fn a_picture_is_its_bytes_in_base64() {
    let picture = Picture::new(b"GIF89a\xff", &types()).unwrap();
    assert_eq!(
        (picture.mime, &*picture.base64),
        ("image/gif", "R0lGODlh/w==")
    );
    assert_eq!(
        format!("{picture:?}"),
        r#"Picture { mime: "image/gif", base64: 12 }"#
    );
}

#[test]
fn a_type_that_is_not_asked_for_is_no_picture() {
    let only = ["image/png".to_owned()];
    assert_eq!(Picture::new(b"GIF89a", &only), None);
    assert!(Picture::new(b"\x89PNG\r\n\x1a\n", &only).is_some());
    assert_eq!(Picture::new(b"GIF89a", &[]), None);
}
