//! The crate as a whole: files in, meanings or problems out.

use std::io;
use std::path::PathBuf;

use crate::{Loaded, Problems, Surroundings};

mod dialects;
mod documents;
mod mutations;
mod problems;
mod schema;
mod shared_state;

/// A few secrets; everything else is unknown.
struct Few;

impl Surroundings for Few {
    fn env(&self, name: &str) -> Option<String> {
        let value = match name {
            "GLOBAL" => "sk-global-from-env",
            "PROXY" => "http://proxy.example:8080",
            "REDIS" => "rediss://:sk-redis@store.example:6380/1",
            "EMPTY" => "",
            "NAME_OF_DEFINITION" => "ops",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn file(&self, path: &str) -> io::Result<String> {
        match path {
            "/keys/global" => Ok("sk-global-from-file\r\n".to_owned()),
            "/keys/ca.pem" => {
                Ok("-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n".to_owned())
            }
            "/keys/two-lines" => Ok("sk-line\n\n".to_owned()),
            "/keys/locked" => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Reads with a few secrets.
fn read(text: &str) -> Result<Loaded, Problems> {
    crate::read(text.as_bytes(), &Few)
}

/// The files of a folder under `tests/data`, by name.
fn documents(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(folder);
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// The example that uses every member but those of dialects.
pub(crate) fn everything() -> serde_json::Value {
    own("everything.json")
}

/// The example that uses every member of dialects.
fn dialects() -> serde_json::Value {
    own("dialects.json")
}

fn own(name: &str) -> serde_json::Value {
    let all = documents("own");
    let (_, text) = all.iter().find(|(path, _)| path.ends_with(name)).unwrap();
    serde_json::from_str(text).unwrap()
}
