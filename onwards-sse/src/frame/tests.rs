use super::*;

#[track_caller]
fn check(frame: Frame<'_>, written: &str) {
    let mut out = b"before ".to_vec();
    frame.write(&mut out).unwrap();
    assert_eq!(out, format!("before {written}").into_bytes());
}

#[test]
fn all_fields() {
    check(Frame::data(b"{}"), "data: {}\n\n");
    check(Frame::data(b""), "data: \n\n");
    check(Frame::comment(""), ":\n\n");
    check(Frame::comment("ping"), ": ping\n\n");
    let all = Frame::data(b"x")
        .event("e")
        .id("")
        .retry(Duration::from_millis(2500));
    check(all, "event: e\nid: \nretry: 2500\ndata: x\n\n");
}

#[test]
fn line_breaks_split_data() {
    check(
        Frame::data(b"a\nb\rc\r\nd"),
        "data: a\ndata: b\ndata: c\ndata: d\n\n",
    );
    check(Frame::data(b"\n"), "data: \ndata: \n\n");
    check(Frame::data(b" a\r\n\r\n"), "data:  a\ndata: \ndata: \n\n");
}

#[test]
fn values_that_would_break_their_line_are_refused() {
    #[track_caller]
    fn check(frame: Frame<'_>, error: FrameError) {
        let mut out = Vec::new();
        assert_eq!(frame.write(&mut out), Err(error));
        assert!(out.is_empty());
    }
    check(
        Frame::data(b"x").event("a\nb"),
        FrameError::LineBreak { field: "event" },
    );
    check(
        Frame::data(b"x").id("a\r"),
        FrameError::LineBreak { field: "id" },
    );
    check(
        Frame::comment("a\n\ndata: x"),
        FrameError::LineBreak { field: "comment" },
    );
    check(Frame::data(b"x").id("a\0"), FrameError::NulInId);
}
