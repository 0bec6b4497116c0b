//! The folder of a home.

use super::StoreError;
use std::fs::DirBuilder;
use std::path::Path;

/// Creates a folder, for example that of a home, and those above it, if they are missing. Only their owner has access to new
/// folders. Existing folders keep their permissions.
///
/// # Errors
/// If a folder cannot be created.
pub fn create_private_folder(folder: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(StoreError::io(folder))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn mode(folder: &Path) -> u32 {
        fs::metadata(folder).expect("a folder").permissions().mode() & 0o777
    }

    #[test]
    fn new_folders_are_for_their_owner_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().join("data/home");
        create_private_folder(&home).expect("created");
        assert_eq!(
            (mode(&home), mode(&folder.path().join("data"))),
            (0o700, 0o700)
        );
        fs::set_permissions(&home, Permissions::from_mode(0o755)).expect("changed");
        create_private_folder(&home).expect("it exists");
        assert_eq!(mode(&home), 0o755, "the owner chose it");
    }
}
