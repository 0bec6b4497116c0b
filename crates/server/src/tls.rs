//! TLS of the server: its certificate and key, which can be replaced while it runs.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;

/// Certificate and key of a server, read from PEM files.
///
/// New connections use the pair that was read last; [`Tls::reload`] reads it again.
#[derive(Clone, Debug)]
pub struct Tls {
    pair: Arc<CurrentPair>,
    config: Arc<ServerConfig>,
}

/// Error of the files of a certificate and its key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// All users of the machine can access the key.
    #[error(
        "{path}: every user of this machine can access the key (mode {mode:03o}); run `chmod 600 {path}`"
    )]
    PublicKeyFile {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A file is not valid PEM.
    #[error("{path} is not a valid PEM file: {reason}")]
    InvalidPem {
        /// The file.
        path: PathBuf,
        /// The first problem.
        reason: String,
    },
    /// The file of the certificate contains none.
    #[error("{0} contains no certificate; a PEM file has a line `-----BEGIN CERTIFICATE-----`")]
    NoCertificate(PathBuf),
    /// The file of the key contains none.
    #[error(
        "{0} contains no private key; a PEM file has a line `-----BEGIN PRIVATE KEY-----`, and the key is not encrypted"
    )]
    NoKey(PathBuf),
    /// The key belongs to another certificate.
    #[error(
        "the key in {key} does not match the first certificate in {certificate}; that of the server comes first, its issuers follow"
    )]
    OtherKey {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The certificate or the key is of an unsupported kind, or damaged.
    #[error("cannot use the certificate in {certificate} with the key in {key}: {reason}")]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl Tls {
    /// Reads a certificate, followed by those of its issuers, and its key. TLS 1.2 and 1.3 are supported.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let pair = CurrentPair::open(certificate, key)?;
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(|error| pair.unusable(&error))?;
        let pair = Arc::new(pair);
        let mut config = builder
            .with_no_client_auth()
            .with_cert_resolver(Arc::<CurrentPair>::clone(&pair));
        // Connections are served by HTTP/1.1 alone.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            pair,
            config: Arc::new(config),
        })
    }

    /// Reads the files again. If that fails, the previous pair stays in use.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn reload(&self) -> Result<(), TlsError> {
        let read = read_pair(&self.pair.certificate, &self.pair.key)?;
        // Connections keep the pair of their handshake.
        *self
            .pair
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(read);
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

/// The files, and the pair that was read last.
#[derive(Debug)]
struct CurrentPair {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
}

impl CurrentPair {
    fn open(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let current = RwLock::new(Arc::new(read_pair(certificate, key)?));
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current,
        })
    }

    fn unusable(&self, error: &rustls::Error) -> TlsError {
        unusable_pair_error(&self.certificate, &self.key, error)
    }
}

impl ResolvesServerCert for CurrentPair {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(
            &self.current.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

fn read_pair(certificate: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
    let chain = read_certificates(certificate)?;
    let private_key = read_key(key)?;
    CertifiedKey::from_der(chain, private_key, &ring::default_provider()).map_err(|error| {
        match error {
            rustls::Error::InconsistentKeys(_) => TlsError::OtherKey {
                certificate: certificate.to_owned(),
                key: key.to_owned(),
            },
            error => unusable_pair_error(certificate, key, &error),
        }
    })
}

fn unusable_pair_error(certificate: &Path, key: &Path, error: &rustls::Error) -> TlsError {
    TlsError::Unusable {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        reason: error.to_string(),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|cause| TlsError::Unreadable {
        path: path.to_owned(),
        cause,
    })
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read_file(path)?;
    let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.map_err(|error| invalid_pem(path, &error))?;
    if chain.is_empty() {
        Err(TlsError::NoCertificate(path.to_owned()))
    } else {
        Ok(chain)
    }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let key = PrivateKeyDer::from_pem_slice(&read_file(path)?).map_err(|error| match error {
        pem::Error::NoItemsFound => TlsError::NoKey(path.to_owned()),
        error => invalid_pem(path, &error),
    })?;
    check_permissions(path)?;
    Ok(key)
}

/// Rejects a key that all users can access.
#[cfg(unix)]
fn check_permissions(path: &Path) -> Result<(), TlsError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).map_err(|cause| TlsError::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o007 == 0 {
        Ok(())
    } else {
        Err(TlsError::PublicKeyFile {
            path: path.to_owned(),
            mode,
        })
    }
}

#[cfg(not(unix))]
fn check_permissions(_: &Path) -> Result<(), TlsError> {
    Ok(())
}

fn invalid_pem(path: &Path, error: &pem::Error) -> TlsError {
    TlsError::InvalidPem {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A folder with a certificate for `localhost` and its key.
    pub(crate) struct TestFiles {
        pub(crate) folder: TempDir,
        pub(crate) certificate: CertificateDer<'static>,
    }

    impl TestFiles {
        pub(crate) fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let certificate = write_pair(folder.path());
            Self {
                folder,
                certificate,
            }
        }

        pub(crate) fn tls(&self) -> Result<Tls, TlsError> {
            Tls::open(
                &self.folder.path().join("certificate.pem"),
                &self.folder.path().join("key.pem"),
            )
        }
    }

    /// Writes a new certificate with its key, and returns the certificate.
    pub(crate) fn write_pair(folder: &Path) -> CertificateDer<'static> {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        fs::write(folder.join("certificate.pem"), made.cert.pem()).expect("written");
        write_key(&folder.join("key.pem"), &made.signing_key.serialize_pem());
        made.cert.der().clone()
    }

    fn write_key(path: &Path, text: &str) {
        fs::write(path, text).expect("written");
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("private");
    }

    fn served(tls: &Tls) -> CertificateDer<'static> {
        tls.pair.current.read().expect("no panic").cert[0].clone()
    }

    #[test]
    fn wrong_files_are_named_with_the_reason() {
        let files = TestFiles::new();
        let message = || files.tls().expect_err("an error").to_string();
        let (certificate, key) = (
            files.folder.path().join("certificate.pem"),
            files.folder.path().join("key.pem"),
        );
        let (certificate_text, key_text) = (
            fs::read_to_string(&certificate).expect("text"),
            fs::read_to_string(&key).expect("text"),
        );

        let other = TestFiles::new();
        fs::copy(other.folder.path().join("key.pem"), &key).expect("copied");
        assert!(
            message().contains("key.pem does not match the first certificate in"),
            "{}",
            message()
        );
        write_key(&key, &certificate_text);
        assert!(
            message().contains("key.pem contains no private key"),
            "{}",
            message()
        );
        write_key(
            &key,
            "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n",
        );
        assert!(
            message().contains("key.pem is not a valid PEM file"),
            "{}",
            message()
        );
        fs::remove_file(&key).expect("removed");
        assert!(
            message().starts_with("cannot read ") && message().contains("key.pem"),
            "{}",
            message()
        );

        write_key(&key, &key_text);
        fs::write(&certificate, &key_text).expect("written");
        assert!(
            message().contains("certificate.pem contains no certificate"),
            "{}",
            message()
        );
        fs::remove_file(&certificate).expect("removed");
        assert!(
            message().starts_with("cannot read ") && message().contains("certificate.pem"),
            "{}",
            message()
        );

        fs::write(&certificate, &certificate_text).expect("written");
        #[cfg(unix)]
        {
            fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644))
                .expect("public");
            assert!(
                message().contains("every user of this machine can access the key (mode 644)"),
                "{}",
                message()
            );
            fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o640))
                .expect("for a group");
        }
        assert_eq!(
            served(&files.tls().expect("valid files")),
            files.certificate
        );
    }

    #[test]
    fn a_reload_uses_the_new_pair_and_an_invalid_one_changes_nothing() {
        let files = TestFiles::new();
        let tls = files.tls().expect("valid files");
        fs::write(files.folder.path().join("certificate.pem"), "").expect("written");
        assert!(matches!(tls.reload(), Err(TlsError::NoCertificate(_))));
        assert_eq!(served(&tls), files.certificate);
        let renewed = write_pair(files.folder.path());
        tls.reload().expect("valid files");
        assert_eq!(served(&tls), renewed);
    }
}
