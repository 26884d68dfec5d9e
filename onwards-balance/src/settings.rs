//! Why settings are refused.

use thiserror::Error;

/// A number outside the range in which the arithmetic keeps its promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{setting} must be {expected}")]
#[non_exhaustive]
pub struct SettingsError {
    /// Name of the setting.
    pub setting: &'static str,
    /// The range it must lie in.
    pub expected: &'static str,
}

/// Passes when `ok`, else tells which setting must be what.
pub(crate) fn demand(
    ok: bool,
    setting: &'static str,
    expected: &'static str,
) -> Result<(), SettingsError> {
    if ok {
        Ok(())
    } else {
        Err(SettingsError { setting, expected })
    }
}
