use std::os::unix::fs::symlink;

use super::*;

/// A named pipe. Nobody writes to it, so opening it would wait for ever.
fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn only_regular_files_up_to_the_bound_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("file"), "12345").unwrap();
    symlink("file", at("link")).unwrap();
    fifo(&at("pipe"));
    symlink("pipe", at("link to pipe")).unwrap();
    symlink("nowhere", at("link to nothing")).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    for (name, most, expect) in [
        ("file", 5, Ok("12345")),
        ("link", 6, Ok("12345")),
        ("file", 4, Err(ErrorKind::FileTooLarge)),
        ("pipe", 9, Err(ErrorKind::InvalidInput)),
        ("link to pipe", 9, Err(ErrorKind::InvalidInput)),
        ("folder", 9, Err(ErrorKind::InvalidInput)),
        ("link to nothing", 9, Err(ErrorKind::NotFound)),
        ("absent", 9, Err(ErrorKind::NotFound)),
    ] {
        let found = read(&at(name), most).map_err(|error| error.kind());
        assert_eq!(
            found.as_deref(),
            expect.map(str::as_bytes).as_ref().map(|bytes| *bytes),
            "{name}"
        );
    }
    assert!(
        read("/dev/zero".as_ref(), 9).is_err(),
        "a device without an end"
    );
}
