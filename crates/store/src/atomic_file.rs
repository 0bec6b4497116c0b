//! Files that are replaced as a whole: after a crash or a power cut, a path has the old content or the new one.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Users with access to a file that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileAccess {
    /// Those of the replaced file. Those of a new file are set by the umask of the process.
    Kept,
    /// The owner only.
    Owner,
}

/// Writes a file, or replaces it. A temporary file beside it is written, synced to the disk and renamed; then its folder is synced.
/// Links are replaced, not followed.
///
/// ```
/// use lodeseek_store::{FileAccess, replace_file};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("settings.toml");
/// replace_file(&path, b"rows = 10\n", FileAccess::Kept)?;
/// assert_eq!(std::fs::read(&path)?, b"rows = 10\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be written. The old content is still there, unless only the sync of the folder failed.
pub fn replace_file(path: &Path, bytes: &[u8], access: FileAccess) -> io::Result<()> {
    replace_by(&process_path(path), path, bytes, access)
}

/// Writes a file as [`replace_file`] does, by this temporary file in the same folder.
pub(super) fn replace_by(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    access: FileAccess,
) -> io::Result<()> {
    let replaced =
        write_temporary(temporary, path, bytes, access).and_then(|()| fs::rename(temporary, path));
    if replaced.is_err() {
        let _ = fs::remove_file(temporary); // the first error is reported
        return replaced;
    }
    sync_folder(path)
}

/// Returns an unused path in the same folder, also if other processes replace the same file. A process that opens a home removes
/// temporary files with other names: this one may be in use.
fn process_path(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.new", std::process::id()));
    path.with_file_name(name)
}

fn write_temporary(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    access: FileAccess,
) -> io::Result<()> {
    let permissions = match access {
        FileAccess::Kept => find_permissions(path)?,
        FileAccess::Owner => None,
    };
    let is_private = access == FileAccess::Owner || permissions.is_some();
    let mut file = create_new(temporary, is_private)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Returns the permissions of a file, where the system has them. `None` if there is no file.
fn find_permissions(path: &Path) -> io::Result<Option<Permissions>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.permissions()).filter(|_| cfg!(unix))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a file, in place of one that a killed process left.
fn create_new(path: &Path, is_private: bool) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        if is_private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
    }
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(path)
}

/// Syncs the folder of a file, so that its name is on the disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    // Other systems cannot open folders, and need not.
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some folders may be written but not read, and some file systems cannot sync folders. The file is complete.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        for content in ["{}", "[1]"] {
            replace_file(&path, content.as_bytes(), FileAccess::Kept).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("a file"), content);
        }
        let occupied = folder.path().join("folder");
        fs::create_dir(&occupied).expect("a folder");
        assert!(replace_file(&occupied, b"", FileAccess::Kept).is_err());
        assert!(replace_file(&path.join("b"), b"", FileAccess::Owner).is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lodeseek.toml");
        for (before, access, after) in [
            (0o640, FileAccess::Kept, 0o640),
            (0o606, FileAccess::Kept, 0o606),
            (0o444, FileAccess::Kept, 0o444),
            (0o644, FileAccess::Owner, 0o600),
        ] {
            let _ = fs::remove_file(&path); // of the round before
            fs::write(&path, "old").expect("written");
            fs::set_permissions(&path, Permissions::from_mode(before)).expect("changed");
            replace_file(&path, b"new", access).expect("replaced");
            let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
            assert_eq!(mode, after, "{before:o}");
        }
        let tokens = folder.path().join("tokens.json");
        replace_file(&tokens, b"[]", FileAccess::Owner).expect("written");
        let mode = fs::metadata(&tokens).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
    }
}
