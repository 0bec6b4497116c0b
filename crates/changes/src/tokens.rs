//! Access tokens of the administration: `home/tokens.json`.
//!
//! The file contains digests only and is readable by its owner only. Tokens are long random texts, so a plain SHA-256 digest
//! cannot be reversed by guessing. The first line is a checksum of the rest. The server reads the file again when it changes: tokens
//! are rotated without a restart.

use lodeseek_store::{FileAccess, StoreError, read_checked, replace_file, with_checksum};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Name of the file in the home.
const FILE: &str = "tokens.json";
/// Name of the file that is locked while the tokens change.
const LOCK: &str = "tokens.lock";
/// Maximum size of a token's name in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Rights of a token. Each includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reads jobs, the audit log, the operator's page and metrics.
    Read,
    /// Adds, replaces and removes datasets; cancels jobs.
    Write,
    /// Indexes the whole collection, harvests.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns the name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = TokenError;

    fn from_str(name: &str) -> Result<Self, TokenError> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.name() == name)
            .ok_or_else(|| TokenError::Scope(name.to_owned()))
    }
}

/// Errors of the token file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("cannot access {path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The file is damaged.
    #[error(
        "{path} is damaged: {reason}; restore it from a backup, or remove it and run `lodeseek token add` for each user"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The wrong checksum, or the error of the JSON parser.
        reason: String,
    },
    /// The name is not valid.
    #[error(
        "{0:?} is not a name of a token; use 1 to 64 letters, digits, dots, hyphens and underscores"
    )]
    Name(String),
    /// The name is in use.
    #[error("there is a token {0} already; remove it first: `lodeseek token remove {0}`")]
    Exists(String),
    /// The scope is unknown.
    #[error("unknown scope {0:?}; supported scopes: read, write, admin")]
    Scope(String),
}

/// A token, without its secret.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Name, which the audit log contains.
    pub name: String,
    /// Rights.
    pub scope: Scope,
    /// Time of creation, in seconds since 1970.
    pub created: u64,
    /// SHA-256 of the secret, in hexadecimal digits.
    sha256: String,
}

impl Token {
    /// Creates a token with the scope `read` that is in no token file, for a secret that another file contains.
    #[must_use]
    pub fn read_only(name: &str, secret: &str) -> Self {
        Self {
            name: name.to_owned(),
            scope: Scope::Read,
            created: 0,
            sha256: digest(secret),
        }
    }

    /// Returns the SHA-256 of the secret, in hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// Rights of the client that requested a change. Tokens can be removed while a body is received or a job waits, so rights are checked
/// again after that. Without a token, the client is a user of this machine, whom the local socket authorizes.
#[derive(Clone, Debug, Default)]
pub struct Rights(Option<Granted>);

#[derive(Clone, Debug)]
struct Granted {
    tokens: Arc<Tokens>,
    token: Token,
    scope: Scope,
}

impl Rights {
    /// Creates the rights of a token for a change that needs a scope.
    #[must_use]
    pub fn new(tokens: &Arc<Tokens>, token: Token, scope: Scope) -> Self {
        Self(Some(Granted {
            tokens: Arc::clone(tokens),
            token,
            scope,
        }))
    }

    /// Checks the rights again.
    ///
    /// # Errors
    /// The reason if the token was removed, or has fewer rights now.
    pub fn check(&self) -> Result<(), String> {
        let Some(Granted {
            tokens,
            token,
            scope,
        }) = &self.0
        else {
            return Ok(());
        };
        match tokens.still_grants(token, *scope) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!(
                "the token {} has no longer the scope {scope}, or was removed; nothing more was changed",
                token.name
            )),
            Err(error) => {
                tracing::error!(%error, "requests with a token are rejected");
                Err("the tokens cannot be read; nothing more was changed".to_owned())
            }
        }
    }
}

/// The token file of a home.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    cached: Mutex<Option<(Stamp, Arc<Vec<Token>>)>>,
}

/// Identifies a version of the file.
type Stamp = (Option<SystemTime>, u64, u64);

impl Tokens {
    /// Creates the access to the token file of a home. The file need not exist.
    #[must_use]
    pub fn new(home: &Path) -> Self {
        Self {
            path: home.join(FILE),
            cached: Mutex::default(),
        }
    }

    /// Returns all tokens, in the order of their creation.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn list(&self) -> Result<Arc<Vec<Token>>, TokenError> {
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(cause) => return Err(self.io_error(cause)),
        };
        // Read before the file: if it changes meanwhile, its content has an older stamp, and is read again.
        let stamp = file_stamp(&metadata);
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tokens)) = &*cached
            && *of == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        let tokens = Arc::new(self.read()?);
        *cached = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }

    /// Reads the file.
    fn read(&self) -> Result<Vec<Token>, TokenError> {
        let body = match read_checked(&self.path) {
            Ok(body) => body.unwrap_or_else(|| b"[]".to_vec()),
            Err(StoreError::Io { cause, .. }) => return Err(self.io_error(cause)),
            Err(_) => return Err(self.damage_error("its checksum is wrong")),
        };
        serde_json::from_slice(&body).map_err(|error| self.damage_error(error))
    }

    /// Adds a token. `secret` is a long random text, which only its user stores.
    ///
    /// # Errors
    /// If the name is invalid or in use, or the file cannot be read or written.
    pub fn add(
        &self,
        name: &str,
        scope: Scope,
        secret: &str,
        created: u64,
    ) -> Result<(), TokenError> {
        if !is_valid_name(name) {
            return Err(TokenError::Name(name.to_owned()));
        }
        let _lock = self.lock()?;
        let mut tokens = self.read()?;
        if tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Exists(name.to_owned()));
        }
        tokens.push(Token {
            name: name.to_owned(),
            scope,
            created,
            sha256: digest(secret),
        });
        self.write(&tokens)
    }

    /// Removes a token. Returns false if there is none of this name.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn remove(&self, name: &str) -> Result<bool, TokenError> {
        let _lock = self.lock()?;
        let mut tokens = self.read()?;
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == before {
            return Ok(false);
        }
        self.write(&tokens)?;
        Ok(true)
    }

    /// Returns the token with this secret. Digests are compared, so that the time does not depend on the secrets.
    ///
    /// # Errors
    /// If the token file cannot be read.
    pub fn find(&self, secret: &str) -> Result<Option<Token>, TokenError> {
        let digest = digest(secret);
        Ok(self
            .list()?
            .iter()
            .find(|token| token.sha256 == digest)
            .cloned())
    }

    /// Returns true if a token that was found before still exists, with these rights. One that was created again with the same name
    /// is another token.
    fn still_grants(&self, token: &Token, scope: Scope) -> Result<bool, TokenError> {
        Ok(self
            .list()?
            .iter()
            .any(|current| current.sha256 == token.sha256 && current.scope >= scope))
    }

    /// Waits until no other process changes the tokens, and keeps others from changing them until the result is dropped.
    fn lock(&self) -> Result<File, TokenError> {
        let path = self.path.with_file_name(LOCK);
        let locked = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .and_then(|file| {
                file.lock()?;
                Ok(file)
            });
        locked.map_err(|cause| TokenError::Io { path, cause })
    }

    /// Writes the file as a whole, readable by its owner only.
    fn write(&self, tokens: &[Token]) -> Result<(), TokenError> {
        let mut body =
            serde_json::to_vec_pretty(tokens).map_err(|error| self.io_error(error.into()))?;
        body.push(b'\n');
        replace_file(&self.path, &with_checksum(&body), FileAccess::Owner)
            .map_err(|cause| self.io_error(cause))
    }

    fn io_error(&self, cause: io::Error) -> TokenError {
        TokenError::Io {
            path: self.path.clone(),
            cause,
        }
    }

    fn damage_error(&self, reason: impl fmt::Display) -> TokenError {
        TokenError::Damaged {
            path: self.path.clone(),
            reason: reason.to_string(),
        }
    }
}

/// Returns true if a token can have this name.
fn is_valid_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// Returns the SHA-256 of a text in hexadecimal digits.
#[must_use]
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(unix)]
fn file_stamp(metadata: &Metadata) -> Stamp {
    // The inode also differs if the file was replaced within the resolution of its time.
    (
        metadata.modified().ok(),
        metadata.len(),
        std::os::unix::fs::MetadataExt::ino(metadata),
    )
}

#[cfg(not(unix))]
fn file_stamp(metadata: &Metadata) -> Stamp {
    (metadata.modified().ok(), metadata.len(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn tokens_are_added_found_and_removed() {
        let home = tempfile::tempdir().expect("a folder");
        let (tokens, other) = (Tokens::new(home.path()), Tokens::new(home.path()));
        assert!(
            tokens.find("secret").expect("read").is_none(),
            "no file, no token"
        );
        tokens.add("ci", Scope::Write, "secret", 7).expect("added");
        let found = other.find("secret").expect("read").expect("a token");
        assert_eq!(
            (found.name.as_str(), found.scope, found.created),
            ("ci", Scope::Write, 7)
        );
        assert!(other.find("Secret").expect("read").is_none());
        let text = fs::read_to_string(home.path().join(FILE)).expect("a file");
        assert!(!text.contains("\"secret\""), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(home.path().join(FILE))
                .expect("a file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(matches!(
            tokens.add("ci", Scope::Read, "x", 8),
            Err(TokenError::Exists(_))
        ));
        assert!(matches!(
            tokens.add("a b", Scope::Read, "x", 8),
            Err(TokenError::Name(_))
        ));
        // The other instance, as a running server has one, sees the rotation.
        assert!(
            tokens.remove("ci").expect("removed") && !tokens.remove("ci").expect("nothing left")
        );
        assert!(other.find("secret").expect("read").is_none());
        tokens
            .add("ci", Scope::Read, "new secret", 9)
            .expect("added");
        assert!(
            other.find("secret").expect("read").is_none()
                && other.find("new secret").expect("read").is_some()
        );
    }

    #[test]
    fn concurrent_changes_lose_no_token() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path();
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for number in 0..10 {
                        let tokens = Tokens::new(path);
                        let name = format!("{thread}-{number}");
                        tokens.add(&name, Scope::Read, &name, 1).expect("added");
                        tokens.add("short-lived", Scope::Read, "x", 1).ok(); // another thread may have added it
                        tokens.remove("short-lived").expect("written");
                    }
                });
            }
        });
        let mut names: Vec<String> = Tokens::new(path)
            .list()
            .expect("read")
            .iter()
            .map(|token| token.name.clone())
            .collect();
        names.sort_unstable();
        let expected: Vec<String> = (0..4)
            .flat_map(|thread| (0..10).map(move |number| format!("{thread}-{number}")))
            .collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn damage_is_detected_and_files_without_a_checksum_are_read() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join(FILE);
        let tokens = Tokens::new(home.path());
        tokens.add("ci", Scope::Write, "secret", 7).expect("added");
        let text = fs::read_to_string(&path).expect("a file");
        let (_, body) = text.split_once('\n').expect("a checksum and JSON");
        // Earlier versions wrote no checksum; the next change adds one.
        fs::write(&path, body).expect("written");
        assert!(tokens.find("secret").expect("read").is_some());
        tokens.add("other", Scope::Read, "x", 8).expect("added");
        assert!(tokens.remove("other").expect("removed"));
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        for damaged in [
            text.replace("write", "admin"),
            text.replace("\"ci\"", "\"cj\""),
            "[{".to_owned(),
            String::new(),
        ] {
            fs::write(&path, damaged).expect("written");
            let error = Tokens::new(home.path())
                .find("secret")
                .expect_err("damaged");
            assert!(matches!(error, TokenError::Damaged { .. }), "{error}");
            assert!(
                tokens.add("new", Scope::Read, "y", 9).is_err(),
                "no token is dropped"
            );
            assert!(
                error.to_string().contains("tokens.json is damaged")
                    && error.to_string().contains("token add")
            );
        }
    }

    #[test]
    fn scopes_include_those_before() {
        assert!(Scope::Read < Scope::Write && Scope::Write < Scope::Admin);
        assert_eq!("write".parse::<Scope>().expect("a scope"), Scope::Write);
        assert!("root".parse::<Scope>().is_err());
    }
}
