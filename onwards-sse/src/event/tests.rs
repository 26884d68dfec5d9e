use super::*;

fn event(raw: &str) -> Event {
    Event::new(Bytes::copy_from_slice(raw.as_bytes()), true)
}

#[test]
fn data() {
    #[track_caller]
    fn check(raw: &str, data: Option<&str>) {
        assert_eq!(
            event(raw).data().as_deref(),
            data.map(str::as_bytes),
            "{raw:?}"
        );
    }
    check("data: a\n\n", Some("a"));
    check("data:a\n\n", Some("a"));
    check("data:  a \n\n", Some(" a "));
    check("data:\ta\n\n", Some("\ta"));
    check("data: a:b: c\r\n\r\n", Some("a:b: c"));
    check("data\n\n", Some(""));
    check("data:\r\r", Some(""));
    check("data: \n\n", Some(""));
    check("data: a\ndata:b\r\ndata: \rdata: c\n\n", Some("a\nb\n\nc"));
    check("data\ndata\n\n", Some("\n"));
    check("event: x\n: c\ndata: a\nid: 1\n\n", Some("a"));
    check("Data: a\ndata : b\n data: c\ndatas: d\n\n", None);
    check(": data: a\n\n", None);
    check("data: cut", Some("cut"));
}

#[test]
fn only_joined_lines_are_copied() {
    assert!(matches!(
        event("id: 1\ndata: a\n\n").data(),
        Some(Cow::Borrowed(b"a"))
    ));
    assert!(matches!(
        event("data: a\ndata: b\n\n").data(),
        Some(Cow::Owned(_))
    ));
}

#[test]
fn other_fields() {
    let of = event("event: a\nevent:b\nid: 1\nid\nretry: 10\nretry: 1x\nretry\n\n");
    assert_eq!(of.event(), Some(&b"b"[..]));
    assert_eq!(of.id(), Some(&b""[..]));
    assert_eq!(event("id: a\nid: b\0\n\n").id(), Some(&b"a"[..]));
    assert_eq!(of.retry(), Some(Duration::from_millis(10)));
    assert_eq!(
        event("retry: -1\nretry: +1\nretry: 99999999999999999999\n\n").retry(),
        None
    );
    let none = event("data: a\n\n");
    assert_eq!((none.event(), none.id(), none.retry()), (None, None, None));
}

#[test]
fn comments() {
    assert!(event(":\n\n").is_comment());
    assert!(event(": ping\r\n:pong\r\n\r\n").is_comment());
    assert!(!event(": ping\ndata\n\n").is_comment());
    assert!(!event("x\n\n").is_comment());
    let fields: Vec<_> = event(":a\nb: c\nd\n\n")
        .fields()
        .map(|field| {
            [field.name, field.value].map(|part| String::from_utf8(part.to_vec()).unwrap())
        })
        .collect();
    assert_eq!(fields, [["", "a"], ["b", "c"], ["d", ""]]);
}
