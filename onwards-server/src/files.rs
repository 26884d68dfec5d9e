//! Files that others write.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The bytes of a regular file, after following links; at most `most`.
///
/// # Errors
/// What the system says, `InvalidInput` for anything but a regular file, which could make reading wait for ever, and
/// `FileTooLarge`.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    regular(&std::fs::metadata(path)?)?; // before it is opened: that alone waits for the writer of a FIFO
    let file = File::open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

fn regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        "not a regular file",
    ))
}

#[cfg(test)]
mod tests;
