use std::ffi::OsString;

use super::*;

#[test]
fn a_filter_that_cannot_be_read_is_replaced_and_reported() {
    for (configured, used, reported) in [
        (Err(VarError::NotPresent), "info", false),
        (Ok(String::new()), "info", false),
        (Ok("debug".into()), "debug", false),
        (
            Ok("onwards_server=trace,warn".into()),
            "onwards_server=trace,warn",
            false,
        ),
        (Ok("a=b=c".into()), "info", true),
        (Err(VarError::NotUnicode(OsString::from("x"))), "info", true),
    ] {
        let told = format!("{configured:?}");
        let (filter, ignored) = filter(configured);
        assert_eq!(
            (filter.to_string().as_str(), ignored.is_some()),
            (used, reported),
            "{told}"
        );
    }
}
