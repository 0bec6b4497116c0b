//! The chain of the records of a location: each names its number, the home that published it, and the SHA-256 of the record before it.
//!
//! The chain detects mistakes: a record that was copied under a higher number, one of another home, a manifest of another snapshot.
//! Who can write to the storage can write a consistent chain, too. Against that, records are signed, and replicas have the public key
//! of the publisher.

use crate::SnapshotError;
use crate::remote::{RemoteSnapshots, SnapshotRecord, Storage};
use crate::signature::{PublicKey, SigningKey};
use lodeseek_engine::{EngineError, HomeManifest};
use lodeseek_store::{read_checked, write_checked};
use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::path::Path;

/// Name of the file of a home with its id. It is a part of backups, so that a restored home continues the chain, and not of snapshots.
const ID_FILE: &str = "home-id";
/// Number of random bytes of an id.
const ID_BYTES: usize = 16;
/// Maximum number of a snapshot: names of records have ten digits.
pub(crate) const MAX_NUMBER: u64 = 9_999_999_999;

/// Place of a new record in the chain.
pub(crate) struct ChainLink<'l> {
    pub(crate) number: u64,
    /// Id of the publishing home.
    pub(crate) home: &'l str,
    /// SHA-256 of the previous record.
    pub(crate) previous: Option<&'l str>,
    pub(crate) key: Option<&'l SigningKey>,
}

/// Returns the id of a home, which is created if it has none.
///
/// # Errors
/// If the file cannot be read or written, or the system has no random numbers.
pub(crate) fn home_id(home: &Path) -> Result<String, SnapshotError> {
    let path = home.join(ID_FILE);
    if let Some(id) = read_checked(&path).map_err(EngineError::from)? {
        return String::from_utf8(id).map_err(|error| SnapshotError::Io {
            path,
            cause: io::Error::new(io::ErrorKind::InvalidData, error),
        });
    }
    let mut bytes = [0; ID_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| SnapshotError::Io {
            path: path.clone(),
            cause: io::Error::other("the system has no random numbers"),
        })?;
    let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    write_checked(&path, id.as_bytes()).map_err(EngineError::from)?;
    Ok(id)
}

impl SnapshotRecord {
    /// Returns true if two records have the same values. Earlier versions did not keep the digest.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        Self {
            digest: other.digest.clone(),
            ..self.clone()
        } == *other
    }

    /// Returns the text that a publisher signs: all that decides which files are served, and when.
    pub(crate) fn signed_message(&self) -> Vec<u8> {
        format!(
            "lodeseek snapshot\nnumber {}\nhome {}\nprevious {}\nmanifest {}\ncreated {}\n",
            self.number.unwrap_or_default(),
            self.home.as_deref().unwrap_or_default(),
            self.previous.as_deref().unwrap_or_default(),
            self.manifest,
            self.created.as_deref().unwrap_or_default(),
        )
        .into_bytes()
    }

    /// Returns the reason why the record is not valid by itself under a number.
    fn find_problem(&self, number: u64, key: Option<&PublicKey>) -> Option<String> {
        if let Some(own) = self.number.filter(|own| *own != number) {
            return Some(format!("it is the record of snapshot {own}"));
        }
        let key = key?;
        match &self.signature {
            // Without a number, the record could be copied.
            Some(signature) if self.number.is_some() => (!key
                .verifies(&self.signed_message(), signature))
            .then(|| "its signature is not one of the configured key".to_owned()),
            _ => Some("it has no signature".to_owned()),
        }
    }
}

impl Storage {
    /// Checks that a snapshot follows the served one. `key` is that of the publisher, if one is configured.
    ///
    /// # Errors
    /// [`SnapshotError::NotInChain`] with the reason; errors of the storage.
    pub(crate) async fn check_successor(
        &self,
        served: Option<(u64, &SnapshotRecord)>,
        number: u64,
        record: &SnapshotRecord,
        key: Option<&PublicKey>,
    ) -> Result<(), SnapshotError> {
        if let Some(problem) = record.find_problem(number, key) {
            return Err(self.not_in_chain(number, problem));
        }
        let Some((served_number, served)) = served else {
            return Ok(());
        };
        // Records of earlier versions name no home, so that any home may continue them.
        if served.home.is_some() && record.home != served.home {
            return Err(self.not_in_chain(number, "it is of another home".to_owned()));
        }
        // A location that was emptied begins again, with a later snapshot only. Records of earlier versions can be copies, too.
        if number <= served_number || record.number.is_none() {
            let is_later = match (&served.created, &record.created) {
                (Some(old), Some(new)) => is_later(new, old),
                _ => true,
            };
            return if is_later {
                Ok(())
            } else {
                Err(self.not_in_chain(number, "it is older than the served one".to_owned()))
            };
        }
        // From the served record to this one, as far as the records were not deleted.
        let listed = self.list_numbers(served_number).await?;
        let mut before: Option<SnapshotRecord> = None;
        for (place, &next_number) in listed.iter().enumerate() {
            if next_number > number {
                break;
            }
            // Not read again: the record that is checked must be the one that is served.
            let next = if next_number == number {
                record.clone()
            } else {
                self.read_record(next_number).await?
            };
            let is_linked = match (&before, place) {
                (Some(before), _) => is_link(before, listed[place - 1], &next, next_number),
                (None, _) if next_number == served_number + 1 => {
                    is_link(served, served_number, &next, next_number)
                }
                // The records between were deleted by the retention of the publisher.
                (None, _) => true,
            };
            if !is_linked {
                let problem = format!("snapshot {next_number} does not continue the one before it");
                return Err(self.not_in_chain(number, problem));
            }
            before = Some(next);
        }
        Ok(())
    }

    /// Checks that a manifest is that of a record.
    pub(crate) fn check_manifest(
        &self,
        number: u64,
        record: &SnapshotRecord,
        manifest: &HomeManifest,
    ) -> Result<(), SnapshotError> {
        let is_same = record.created == manifest.created
            && record.datasets == manifest.datasets
            && record.bytes == manifest.bytes();
        if is_same {
            return Ok(());
        }
        Err(self.not_in_chain(
            number,
            "its manifest is that of another snapshot".to_owned(),
        ))
    }

    fn not_in_chain(&self, number: u64, reason: String) -> SnapshotError {
        SnapshotError::NotInChain {
            location: self.location().to_owned(),
            number,
            reason,
        }
    }
}

/// Returns true if a time is later than another one. Times that are no dates are not.
fn is_later(time: &str, other: &str) -> bool {
    match (
        time.parse::<oxsdatatypes::DateTime>(),
        other.parse::<oxsdatatypes::DateTime>(),
    ) {
        (Ok(time), Ok(other)) => time > other,
        _ => false,
    }
}

/// Returns true if a record continues the one before it. Records of earlier versions name none.
fn is_link(
    before: &SnapshotRecord,
    before_number: u64,
    next: &SnapshotRecord,
    next_number: u64,
) -> bool {
    if next.number.is_none() {
        return before.number.is_none();
    }
    // Earlier versions did not keep the digest of the served record.
    let is_next = before.digest.is_empty() || next.previous.as_deref() == Some(&before.digest);
    next_number == before_number + 1
        && is_next
        && (before.home.is_none() || before.home == next.home)
}

impl RemoteSnapshots {
    /// Returns the last snapshot if this home published it, to continue its chain.
    ///
    /// # Errors
    /// [`SnapshotError::Foreign`] if the last record is of another home, under a number that is not its own, or not readable.
    pub(crate) fn last_own(
        &self,
        home: &str,
    ) -> Result<Option<(u64, SnapshotRecord)>, SnapshotError> {
        self.runtime.block_on(async {
            let Some(number) = self.storage.list_numbers(0).await?.pop() else {
                return Ok(None);
            };
            match self.storage.own_record(number, home).await? {
                Ok(record) => Ok(Some((number, record))),
                Err(reason) => Err(SnapshotError::Foreign {
                    location: self.location().to_owned(),
                    number,
                    reason,
                }),
            }
        })
    }

    /// Deletes the records above the last one of this home. Returns that one, and the number of the others.
    pub(crate) fn remove_foreign(
        &self,
        home: &str,
    ) -> Result<(Option<(u64, SnapshotRecord)>, usize), SnapshotError> {
        self.runtime.block_on(async {
            let mut removed = 0;
            for number in self.storage.list_numbers(0).await?.into_iter().rev() {
                match self.storage.own_record(number, home).await? {
                    Ok(record) => return Ok((Some((number, record)), removed)),
                    Err(reason) => {
                        tracing::warn!(number, reason, "the record of a snapshot is deleted");
                        self.storage.delete_record(number).await?;
                        removed += 1;
                    }
                }
            }
            Ok((None, removed))
        })
    }
}

impl Storage {
    /// Returns the record with a number, or the reason why it is not one of this home. Records of earlier versions may be of any home.
    async fn own_record(
        &self,
        number: u64,
        home: &str,
    ) -> Result<Result<SnapshotRecord, String>, SnapshotError> {
        // A record that is not readable is a reason, which `--force` can delete; a failed request is an error, and deletes
        // nothing.
        let record = match self.read_record(number).await {
            Ok(record) => record,
            Err(error @ (SnapshotError::Damaged { .. } | SnapshotError::OtherVersion { .. })) => {
                return Ok(Err(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        if record.home.as_deref().is_some_and(|other| other != home) {
            return Ok(Err("another home published it".to_owned()));
        }
        // Its signature is not checked: a publication with a new key continues the chain.
        if let Some(problem) = record.find_problem(number, None) {
            return Ok(Err(problem));
        }
        if number >= MAX_NUMBER {
            return Ok(Err("no number follows it".to_owned()));
        }
        Ok(Ok(record))
    }
}
