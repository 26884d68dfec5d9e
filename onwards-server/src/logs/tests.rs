use std::ffi::OsString;

use super::*;

#[test]
fn a_filter_that_cannot_be_read_is_replaced_and_reported() {
    for (configured, used, reported) in [
        (Err(VarError::NotPresent), "info", false),
        (Ok(String::new()), "info", false),
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

#[test]
fn file_watchers_stay_at_info_unless_they_are_named() {
    for (configured, quiet) in [
        ("trace", &["notify", "mio", "inotify"][..]),
        ("hyper=warn, debug", &["notify", "mio", "inotify"]),
        ("5", &["notify", "mio", "inotify"]),
        ("trace,notify=trace", &["mio", "inotify"]),
        ("trace,mio::poll=debug,inotify", &["notify"]),
        ("trace,notify[x]=debug,inotify=off,mio=warn", &[]),
        ("info", &[]),
        ("warn,onwards_server=trace", &[]),
        ("notify=trace", &[]),
    ] {
        let (filter, _) = filter(Ok(configured.to_owned()));
        let used = filter.to_string();
        let capped: Vec<_> = used
            .split(',')
            .filter_map(|directive| directive.strip_suffix("=info"))
            .collect();
        let missing: Vec<_> = quiet.iter().filter(|name| !capped.contains(name)).collect();
        assert!(
            missing.is_empty() && capped.len() == quiet.len(),
            "{configured}: {used}"
        );
    }
}
