//! Downloads of files that an upload names by their addresses.

use crate::control::{ChangeError, Control};
use crate::jobs::Progress;
use crate::uploads::{Spool, UploadedFile};
use lodeseek_harvest::allow_source_hosts;
use lodeseek_net::egress::{Egress, EgressPolicy, IpNet, OtherHosts, RequestLimits, Response};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::time::Duration;

/// Maximum size of all files of one upload in bytes: 4 GiB.
const MAX_DOWNLOADS_BYTES: u64 = 4 << 30;
/// Maximum duration of one download.
const MAX_DOWNLOAD_TIME: Duration = Duration::from_secs(3600);
/// Maximum size of the name of a downloaded file in bytes.
const MAX_NAME_BYTES: usize = 100;
/// Number of bytes between two reports of progress.
const PROGRESS_INTERVAL_BYTES: u64 = 1 << 20;

/// Downloads files into the folder of an upload. Redirects to public hosts are followed; private networks need a permission.
pub(crate) fn download_files(
    addresses: &[String],
    networks: &[IpNet],
    spool: &Spool,
    control: &Control,
) -> Result<Vec<UploadedFile>, ChangeError> {
    let mut policy = EgressPolicy {
        others: OtherHosts::AnyPublic,
        private_networks: networks.to_vec(),
        ..EgressPolicy::default()
    };
    allow_source_hosts(&mut policy, addresses)
        .map_err(|error| ChangeError::Failed(error.to_string()))?;
    let egress = Egress::new(policy);
    let (mut files, mut received) = (Vec::new(), 0);
    for (number, address) in addresses.iter().enumerate() {
        control.check()?;
        // All files together have the limit. A response ends within it, so the difference is never negative.
        let limits = RequestLimits {
            total: MAX_DOWNLOAD_TIME,
            bytes: MAX_DOWNLOADS_BYTES - received,
            ..RequestLimits::default()
        };
        let request = egress
            .get(address)
            .with_limits(limits)
            .with_cancellation(control.cancellation());
        let sent = request.send();
        // A cancellation ends the request with an error, and is no failure of the download.
        control.check()?;
        let response = sent.map_err(|error| download_error(address, &error))?;
        if response.status() != 200 {
            return Err(download_error(
                address,
                &format!("status {}", response.status()),
            ));
        }
        // Two addresses may end with the same name.
        let folder = spool.path().join(format!(".download{number}"));
        fs::create_dir_all(&folder).map_err(|error| download_error(address, &error))?;
        let name = file_name(response.address());
        let media_type = media_type(&response);
        let path = folder.join(&name);
        let copied =
            File::create(&path).and_then(|file| copy_body(response, file, &mut received, control));
        control.check()?;
        copied.map_err(|error| download_error(address, &error))?;
        files.push(UploadedFile {
            name,
            path,
            media_type,
            address: Some(address.clone()),
        });
    }
    Ok(files)
}

fn download_error(address: &str, reason: &dyn std::fmt::Display) -> ChangeError {
    let reason = reason.to_string();
    let place = if reason.contains(address) {
        String::new()
    } else {
        format!("<{address}>: ")
    };
    ChangeError::Failed(format!(
        "nothing was changed: cannot download {place}{reason}"
    ))
}

/// Writes a body to a file, and reports the number of received bytes.
fn copy_body(
    response: Response,
    mut file: File,
    received: &mut u64,
    control: &Control,
) -> io::Result<()> {
    let (mut body, mut buffer, mut reported) = (response.into_body(), vec![0; 64 << 10], 0);
    loop {
        let length = body.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        file.write_all(&buffer[..length])?;
        *received += length as u64;
        if *received - reported >= PROGRESS_INTERVAL_BYTES {
            reported = *received;
            control.report_progress(Progress {
                bytes: Some(*received),
                ..Progress::default()
            });
        }
    }
}

/// Returns the media type of a response, unless servers send it for any file.
fn media_type(response: &Response) -> Option<String> {
    let value = response.header("content-type")?;
    let media_type = value
        .split(';')
        .next()
        .unwrap_or(value)
        .trim()
        .to_ascii_lowercase();
    let is_generic = matches!(
        media_type.as_str(),
        "application/octet-stream" | "text/plain" | "text/html"
    );
    (!is_generic).then_some(media_type)
}

/// Returns the name of a downloaded file: the last part of the path, whose suffix states the syntax.
fn file_name(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let path = match path.split_once("://") {
        Some((_, rest)) => rest,
        None => path,
    };
    let last = path
        .split_once('/')
        .and_then(|(_, path)| path.rsplit('/').next())
        .unwrap_or_default();
    let name: String = last
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => c,
            _ => '-',
        })
        .collect();
    let name = name.trim_start_matches('.');
    // The suffix states the syntax, so the end is kept.
    let start = name.len().saturating_sub(MAX_NAME_BYTES);
    if name.is_empty() {
        "data".to_owned()
    } else {
        name[start..].trim_start_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_folders() {
        for (address, name) in [
            ("https://e.org/data/trees.nt.gz?version=2#x", "trees.nt.gz"),
            ("https://e.org/a%20b.ttl", "a-20b.ttl"),
            ("https://e.org/", "data"),
            ("https://e.org", "data"),
            ("https://e.org/a/..", "data"),
            ("https://e.org/.hidden", "hidden"),
        ] {
            assert_eq!(file_name(address), name, "{address}");
        }
    }
}
