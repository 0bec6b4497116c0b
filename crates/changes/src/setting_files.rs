//! Files that the settings of a home name: a backup contains them.

use lodeseek_engine::SettingFile;
use std::fmt;
use std::sync::Arc;

/// Reader of the files that the settings of the home name. The settings may change while the server runs.
#[derive(Clone)]
pub struct SettingFiles(Arc<dyn Fn() -> Result<Vec<SettingFile>, String> + Send + Sync>);

impl SettingFiles {
    /// Creates a reader from a function. Its error is the reason why the settings cannot be read.
    pub fn new(
        read: impl Fn() -> Result<Vec<SettingFile>, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(read))
    }

    /// Returns the files that the present settings name.
    pub(crate) fn read(&self) -> Result<Vec<SettingFile>, String> {
        (self.0)()
    }
}

impl Default for SettingFiles {
    fn default() -> Self {
        Self::new(|| Ok(Vec::new()))
    }
}

impl fmt::Debug for SettingFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SettingFiles")
    }
}
