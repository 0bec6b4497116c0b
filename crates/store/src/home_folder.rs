//! The folder of a home.

use super::StoreError;
use std::fs::{DirBuilder, File};
use std::io;
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

/// Removes the access of other users to an existing folder, for example one that was made for the restoration of a home.
///
/// # Errors
/// If the folder belongs to another user.
pub fn make_private(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Creates a file, or empties an existing one, with access for its owner only.
///
/// # Errors
/// If the file cannot be created.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        // An existing file keeps its mode when it is opened.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
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
