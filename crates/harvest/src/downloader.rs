//! Download of single files, without a catalogue.

use super::fetch::{Fetcher, Purpose};
use super::state::State;
use super::{FetchError, HarvestError, HarvestOptions, with_remedy};
use lodeseek_net::egress::Egress;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Name of the folder of files that are being downloaded.
const NAME: &str = "downloads";

/// Outcome of a download.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Download {
    /// The file was downloaded.
    Downloaded {
        /// Size in bytes.
        bytes: u64,
        /// SHA-256 in hexadecimal digits.
        sha256: String,
    },
    /// The file cannot be downloaded, for this reason.
    Failed(String),
}

/// Downloader of single files by the rules of a harvest: egress policy, `robots.txt`, pauses, retries and limits.
///
/// Use one instance for all files: it holds the rules of the hosts and the times of the last requests to them.
///
/// ```
/// use lodeseek_harvest::{Download, Downloader, HarvestOptions};
/// use lodeseek_net::egress::Egress;
///
/// let folder = tempfile::tempdir().expect("a temporary folder");
/// let (egress, options) = (Egress::default(), HarvestOptions::default()); // no requests
/// let mut downloader = Downloader::open(&egress, &options, folder.path())?;
/// let download = downloader.download("http://example.org/a.ttl", &folder.path().join("a.ttl"))?;
/// assert!(matches!(download, Download::Failed(reason) if reason.contains("not in the allow list")));
/// # Ok::<(), lodeseek_harvest::HarvestError>(())
/// ```
pub struct Downloader<'d> {
    fetcher: Fetcher<'d>,
    /// Removed after the fetcher, which holds a lock in it.
    _folder: TempDir,
}

impl<'d> Downloader<'d> {
    /// Creates a downloader. It makes a folder for incomplete files in `scratch`, and removes it at the end.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn open(
        egress: &'d Egress,
        options: &'d HarvestOptions,
        scratch: &Path,
    ) -> Result<Self, HarvestError> {
        let folder = tempfile::tempdir_in(scratch).map_err(HarvestError::io(scratch))?;
        let state = State::open(folder.path(), NAME)?;
        Ok(Self {
            fetcher: Fetcher::new(egress, options, state),
            _folder: folder,
        })
    }

    /// Downloads the file of an address to a path on the file system of the scratch folder.
    ///
    /// # Errors
    /// If the file cannot be written. A file that cannot be downloaded is no error.
    pub fn download(&mut self, address: &str, to: &Path) -> Result<Download, HarvestError> {
        let fetched = self.fetcher.get(address, Purpose::Download);
        self.fetcher.remove_partial_file(address)?;
        let fetched = match fetched {
            Ok(fetched) => fetched,
            Err(FetchError::Disk(error)) => return Err(error),
            Err(error) => return Ok(Download::Failed(with_remedy(&error))),
        };
        // The file leaves the cache, so that a later request for the address downloads it again.
        self.fetcher.state.forget_file(address);
        fs::rename(&fetched.path, to).map_err(HarvestError::io(to))?;
        Ok(Download::Downloaded {
            bytes: fetched.file.length,
            sha256: fetched.file.sha256,
        })
    }
}
