//! Local socket of the administration: `home/admin/socket`. The folder is accessible to its owner only, so a connection needs no
//! token.

use super::management::{self, LocalPeer};
use crate::AppState;
use axum::Extension;
use lodeseek_changes::socket_path;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tokio::net::UnixListener;

/// A bound socket. Its file is deleted with this value.
pub(crate) struct LocalSocket {
    listener: Option<UnixListener>,
    path: PathBuf,
}

impl LocalSocket {
    /// Binds the socket of a home, whose lock the caller holds: a file that is there is of a killed process.
    pub(crate) fn bind(home: &Path) -> io::Result<Self> {
        let path = socket_path(home);
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
            // A folder that was there may have other permissions.
            fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = Some(UnixListener::bind(&path)?);
        Ok(Self { listener, path })
    }

    /// Serves the routes of the administration until the future is dropped.
    pub(crate) async fn serve(mut self, state: AppState) -> io::Result<()> {
        let Some(listener) = self.listener.take() else {
            return Ok(());
        };
        let routes = management::router()
            .with_state(state)
            .layer(Extension(LocalPeer));
        axum::serve(listener, routes).await
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // the next start replaces it
    }
}
