use super::*;
use crate::Frame;
use bytes::Bytes;

/// Doubles `twice`, drops comments, stops at `stop`, refuses `bad`, says farewell.
struct Script;

impl Rewrite for Script {
    type Error = &'static str;

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<ControlFlow<()>, &'static str> {
        let Some(data) = event.data() else {
            return Ok(ControlFlow::Continue(()));
        };
        let count = match &*data {
            b"bad" => return Err("bad"),
            b"twice" => 2,
            _ => 1,
        };
        for _ in 0..count {
            Frame::data(&data).write(out).map_err(|_| "frame")?;
        }
        let stop = *data == b"stop"[..];
        Ok(if stop {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), &'static str> {
        out.extend_from_slice(b": end\n\n");
        Ok(())
    }
}

#[track_caller]
fn check(chunks: &[&'static str], written: &str, result: Result<ControlFlow<()>, PumpError<&str>>) {
    let mut framer = Framer::new(4);
    let mut out = Vec::new();
    let mut last = Ok(ControlFlow::Continue(()));
    for chunk in chunks {
        match *chunk {
            "" => framer.finish(),
            chunk => framer.push(Bytes::from_static(chunk.as_bytes())),
        }
        last = pump(&mut framer, &mut Script, &mut out);
    }
    assert_eq!(out, written.as_bytes());
    assert_eq!(last, result);
}

#[test]
fn none_one_or_several() {
    let (on, over) = (Ok(ControlFlow::Continue(())), Ok(ControlFlow::Break(())));
    check(
        &[": c\n\ndata:twice\n\n"],
        "data: twice\n\ndata: twice\n\n",
        on,
    );
    check(&["data:a\n\n", ""], "data: a\n\n: end\n\n", over);
    check(&["data", ""], "data: \n\n: end\n\n", over);
    check(&["data:stop\n\ndata:a\n\n"], "data: stop\n\n", over);
}

#[test]
fn what_was_complete_before_a_fault_is_written() {
    check(
        &["data:a\n\ndata:bad\n\ndata:b\n\n"],
        "data: a\n\n",
        Err(PumpError::Rewrite("bad")),
    );
    let overlong = FramingError::Overlong { len: 6, limit: 4 };
    check(
        &["data:a\n\ndata:b"],
        "data: a\n\n",
        Err(PumpError::Framing(overlong)),
    );
}
