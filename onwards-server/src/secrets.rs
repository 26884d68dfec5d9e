//! Where the values of `${NAME}` and `${file:PATH}` come from: the process's environment and its file system.

use std::io;

use onwards_config::Secrets;

/// The surroundings of the process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings;

/// The largest file that is read for a secret.
const LARGEST: u64 = 64 * 1024;

impl Secrets for Surroundings {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> io::Result<String> {
        use io::Read;
        let mut text = String::new();
        std::fs::File::open(path)?
            .take(LARGEST + 1)
            .read_to_string(&mut text)?;
        if text.len() as u64 > LARGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(text)
    }
}
