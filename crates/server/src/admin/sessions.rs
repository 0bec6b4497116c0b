//! Sessions of browsers: a cookie in the place of a token, for the pages below `/operator` only.
//!
//! A session lives in memory and ends after eight hours, when its token is removed, and with the server. The cookie is sent to the
//! pages of the operator only, not by pages of other sites, and scripts cannot read it. Forms carry a second secret, which a page of
//! another site cannot know.

use axum::http::{HeaderMap, header};
use lodeseek_changes::{Token, digest};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Name of the cookie.
const COOKIE: &str = "lodeseek-operator";
/// Maximum duration of a session.
const MAX_SESSION_TIME: Duration = Duration::from_secs(8 * 60 * 60);
/// Maximum number of sessions. The oldest one ends if there are more.
const MAX_SESSIONS: usize = 200;
/// Number of random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// A session of a browser.
#[derive(Clone)]
pub(super) struct Session {
    /// Digest of the secret in the cookie.
    sha256: String,
    /// Secret of the forms.
    pub(super) form_secret: String,
    pub(super) token: Token,
    ends: Instant,
}

/// All sessions, the oldest first.
#[derive(Default)]
pub(super) struct Sessions(Mutex<Vec<Session>>);

impl Sessions {
    /// Opens a session, and returns the header that sets its cookie. `path` is that of the pages.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(super) fn open(&self, token: Token, path: &str, is_secure: bool) -> io::Result<String> {
        let secret = new_secret()?;
        let session = Session {
            // Only the digest is kept, as of tokens.
            sha256: digest(&secret),
            form_secret: new_secret()?,
            token,
            ends: Instant::now() + MAX_SESSION_TIME,
        };
        let mut sessions = self.lock();
        sessions.retain(|session| session.ends > Instant::now());
        if sessions.len() >= MAX_SESSIONS {
            sessions.remove(0);
        }
        sessions.push(session);
        Ok(format_cookie(
            &secret,
            path,
            is_secure,
            MAX_SESSION_TIME.as_secs(),
        ))
    }

    /// Returns the session of a request.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<Session> {
        let sha256 = digest(session_secret(headers)?);
        let sessions = self.lock();
        let found = sessions
            .iter()
            .find(|session| session.sha256 == sha256 && session.ends > Instant::now());
        found.cloned()
    }

    /// Ends the session of a request, and returns the header that deletes its cookie.
    pub(super) fn close(&self, headers: &HeaderMap, path: &str, is_secure: bool) -> String {
        if let Some(secret) = session_secret(headers) {
            let sha256 = digest(secret);
            self.lock().retain(|session| session.sha256 != sha256);
        }
        format_cookie("", path, is_secure, 0)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Returns true if a form has the secret of this session. Digests are compared, so that the time does not depend on it.
    pub(super) fn has_form_secret(&self, secret: &str) -> bool {
        digest(secret) == digest(&self.form_secret)
    }
}

/// Returns the value of `Set-Cookie`.
fn format_cookie(secret: &str, path: &str, is_secure: bool, seconds: u64) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{COOKIE}={secret}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// Returns the secret in the cookie of a request.
fn session_secret(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, secret)| secret)
}

/// Returns a new secret in hexadecimal digits.
fn new_secret() -> io::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_changes::{Scope, Tokens};

    fn token() -> Token {
        let home = tempfile::tempdir().expect("a folder");
        let tokens = Tokens::new(home.path());
        tokens
            .add("anna", Scope::Write, "secret", 7)
            .expect("added");
        let found = tokens.find("secret").expect("read");
        found.expect("the token")
    }

    fn headers(cookie: &str) -> HeaderMap {
        let value = cookie.split(';').next().unwrap_or_default();
        let mut headers = HeaderMap::new();
        headers.insert(
            header::COOKIE,
            format!("a=b; {value}").parse().expect("a header"),
        );
        headers
    }

    #[test]
    fn a_session_is_found_until_it_is_closed() {
        let sessions = Sessions::default();
        let cookie = sessions
            .open(token(), "/portal/operator", true)
            .expect("opened");
        assert!(
            cookie.ends_with(
                "; Path=/portal/operator; Max-Age=28800; HttpOnly; SameSite=Strict; Secure"
            ),
            "{cookie}"
        );
        let headers = headers(&cookie);
        let session = sessions.find(&headers).expect("a session");
        assert_eq!(session.token.name, "anna");
        assert!(session.has_form_secret(&session.form_secret) && !session.has_form_secret("x"));
        assert!(sessions.find(&HeaderMap::new()).is_none());
        let deleted = sessions.close(&headers, "/operator", false);
        assert!(deleted.contains("=; Path=/operator; Max-Age=0") && !deleted.contains("Secure"));
        assert!(sessions.find(&headers).is_none());
    }

    #[test]
    fn the_oldest_session_ends_if_there_are_too_many() {
        let sessions = Sessions::default();
        let token = token();
        let first = sessions.open(token.clone(), "/", false).expect("opened");
        for _ in 0..MAX_SESSIONS {
            sessions.open(token.clone(), "/", false).expect("opened");
        }
        assert!(sessions.find(&headers(&first)).is_none());
    }
}
