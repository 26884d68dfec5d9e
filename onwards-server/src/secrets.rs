//! What the configuration is read in: the process's environment and file system for `${NAME}` and `${file:PATH}`, and the rules
//! that the crates below know, so that reading a file finds everything that is wrong with it.

use std::io;

use onwards_config::{BrokenRule, ReasoningSurface, ReasoningTranslation, Surroundings};
use onwards_reasoning::{Spec, SurfaceSpec, Translation, Violation, WriteSpec};

use crate::files;

/// The surroundings of the process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Process;

/// The largest file that is read for a secret.
const LARGEST: u64 = 64 * 1024;

impl Surroundings for Process {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> io::Result<String> {
        String::from_utf8(files::read(path.as_ref(), LARGEST)?)
            .map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn translation_problems(&self, wanted: &ReasoningTranslation) -> Vec<BrokenRule> {
        let violations = translation(wanted).err().unwrap_or_default();
        violations
            .into_iter()
            .map(
                |Violation {
                     path,
                     found,
                     expected,
                 }| BrokenRule {
                    path,
                    found,
                    expected,
                },
            )
            .collect()
    }

    fn knows_parameter(&self, name: &str) -> bool {
        onwards_strict::catalog::find(name).is_some()
    }
}

/// A provider's translation, compiled.
///
/// # Errors
/// Every rule it breaks; none if the process's surroundings were asked when the file was read.
pub(crate) fn translation(wanted: &ReasoningTranslation) -> Result<Translation, Vec<Violation>> {
    let surface = |surface: &ReasoningSurface| SurfaceSpec {
        unsupported_efforts: surface.unsupported_efforts.clone(),
        writes: surface
            .writes
            .iter()
            .map(|write| WriteSpec {
                target_path: write.target_path.clone(),
                values: write.values.clone(),
            })
            .collect(),
    };
    Translation::new(&Spec {
        chat_completions: wanted.chat_completions.as_ref().map(surface),
        responses: wanted.responses.as_ref().map(surface),
    })
}
