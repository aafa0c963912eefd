//! Files of this machine and of others: over https, and over http from this machine alone.

use crate::error::{PackageError, io};
use skillbench_signatures::{SUFFIX, beside};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::Uri;
use ureq::{Agent, Body, http::Response};

const HOPS: usize = 5;
const CONNECT: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(60);
const READ: Duration = Duration::from_secs(60);

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    File(PathBuf),
    Url(String),
}

impl Location {
    /// A path, or an address.
    pub fn parse(text: &str) -> Result<Location, String> {
        if let Some(path) = text.strip_prefix("file://") {
            return match Path::new(path).is_absolute() {
                true => Ok(Location::File(path.into())),
                false => Err("expected file:// and a path that begins with '/'".into()),
            };
        }
        if !text.contains("://") {
            return Ok(Location::File(text.into()));
        }
        let uri: Uri = text.parse().map_err(|_| "is no address".to_string())?;
        match uri.scheme_str() {
            Some("https") => Ok(Location::Url(text.into())),
            Some("http") if is_loopback(&uri) => Ok(Location::Url(text.into())),
            Some("http") => Err("is not encrypted: expected https://".into()),
            _ => Err("expected an address that begins with https:// or file://".into()),
        }
    }

    /// What a file at this place names: an address, or a path from its own folder. A file of the network names none of this machine.
    pub fn join(&self, to: &str) -> Result<Location, String> {
        let local = match self {
            Location::File(_) => true,
            Location::Url(url) => url.parse().is_ok_and(|uri| is_loopback(&uri)),
        };
        if to.contains("://") {
            let there = Location::parse(to)?;
            let only_here = match &there {
                Location::File(_) => !matches!(self, Location::File(_)),
                Location::Url(url) => !local && url.starts_with("http://"),
            };
            return if only_here { Err("names a file of this machine".into()) } else { Ok(there) };
        }
        if to.split(['/', '\\']).any(|part| part == ".." || part.is_empty()) {
            return Err("expected an address, or a path below the index' own folder".into());
        }
        match self {
            Location::File(file) => Ok(Location::File(file.parent().unwrap_or(Path::new(".")).join(to))),
            Location::Url(url) => {
                let path = url.split(['?', '#']).next().unwrap_or(url);
                let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
                Location::parse(&format!("{folder}/{to}"))
            }
        }
    }

    /// Where the signature of this file is.
    pub fn signature(&self) -> Location {
        match self {
            Location::File(file) => Location::File(beside(file)),
            Location::Url(url) => {
                let at = url.find(['?', '#']).unwrap_or(url.len());
                Location::Url(format!("{}{SUFFIX}{}", &url[..at], &url[at..]))
            }
        }
    }

    /// Copies the file, of at most so many bytes; says whether it is there at all.
    pub fn bring(&self, into: &Path, most: u64) -> Result<bool, PackageError> {
        let failed = |text: String| PackageError::Fetch { what: self.to_string(), text, next: self.next().into() };
        let too_large = || failed(format!("it has more than {} MB", most.div_ceil(1_000_000)));
        let (mut reader, announced): (Box<dyn Read>, Option<u64>) = match self {
            Location::File(file) => match File::open(file) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(failed(error.to_string())),
                Ok(opened) => match opened.metadata() {
                    Ok(data) if data.is_file() => (Box::new(opened), Some(data.len())),
                    Ok(_) => return Err(failed("it is no plain file".into())),
                    Err(error) => return Err(failed(error.to_string())),
                },
            },
            Location::Url(url) => match get(url).map_err(failed)? {
                None => return Ok(false),
                Some(answer) => {
                    let announced = answer.body().content_length();
                    (Box::new(answer.into_body().into_reader()), announced)
                }
            },
        };
        if announced.is_some_and(|size| size > most) {
            return Err(too_large());
        }
        let mut out = File::create(into).map_err(io(into))?;
        let (mut buffer, mut sum) = (vec![0; 1 << 16], 0);
        loop {
            let read = reader.read(&mut buffer).map_err(|error| failed(error.to_string()))?;
            if read == 0 {
                break;
            }
            sum += read as u64;
            if sum > most {
                return Err(too_large());
            }
            out.write_all(&buffer[..read]).map_err(io(into))?;
        }
        match announced {
            Some(size) if size != sum => Err(failed(format!("it ended after {sum} of {size} bytes"))),
            _ => Ok(true),
        }
    }

    /// A small text file; `None` where there is none.
    pub fn text(&self, scratch: &Path, most: u64) -> Result<Option<String>, PackageError> {
        let file = scratch.join("text");
        if !self.bring(&file, most)? {
            return Ok(None);
        }
        std::fs::read_to_string(&file).map(Some).map_err(|error: io::Error| PackageError::Fetch {
            what: self.to_string(),
            text: error.to_string(),
            next: self.next().into(),
        })
    }

    /// That it is not there, as an error.
    pub fn not_there(&self) -> PackageError {
        PackageError::Fetch { what: self.to_string(), text: "there is nothing".into(), next: self.next().into() }
    }

    fn next(&self) -> &'static str {
        match self {
            Location::File(_) => "see whether its name is right",
            Location::Url(_) => {
                "see whether the address is right and the network is there (HTTPS_PROXY names a proxy), or fetch the file yourself and name it"
            }
        }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Location::File(file) => write!(f, "{}", file.display()),
            Location::Url(url) => f.write_str(url),
        }
    }
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    host == "localhost"
        || host == "[::1]"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// An answer, after its redirects; `None` where nothing is there.
fn get(url: &str) -> Result<Option<Response<Body>>, String> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("skillbench/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(ANSWER))
        .timeout_per_read(Some(READ))
        .build()
        .into();
    let mut at = Location::Url(url.into());
    for _ in 0..HOPS {
        let answer = agent.get(at.to_string()).call().map_err(|error| error.to_string())?;
        match answer.status().as_u16() {
            200 => return Ok(Some(answer)),
            404 | 410 => return Ok(None),
            301 | 302 | 303 | 307 | 308 => {
                let to = answer.headers().get("location").and_then(|to| to.to_str().ok());
                let to = to.ok_or("it answered with a redirect to nowhere")?;
                at = redirected(&at, to)?;
            }
            status => return Err(format!("it answered {status}")),
        }
    }
    Err(format!("it answered with more than {HOPS} redirects"))
}

fn redirected(from: &Location, to: &str) -> Result<Location, String> {
    let origin = |url: &str| {
        let uri: Uri = url.parse().ok()?;
        Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
    };
    let to = match to.starts_with('/') {
        true => format!("{}{to}", origin(&from.to_string()).unwrap_or_default()),
        false => to.into(),
    };
    from.join(&to).map_err(|why| format!("it answered with a redirect to '{to}', which {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_an_index_is_below_it_and_a_signature_is_beside_its_file() {
        let index = Location::parse("https://example.org/plugins/index.json?x=1").unwrap();
        let package = index.join("a/b.tar.gz").unwrap();
        assert_eq!(package.to_string(), "https://example.org/plugins/a/b.tar.gz");
        assert_eq!(package.signature().to_string(), "https://example.org/plugins/a/b.tar.gz.minisig");
        let asked = Location::parse("https://example.org/b.tar.gz?token=1").unwrap().signature();
        assert_eq!(asked.to_string(), "https://example.org/b.tar.gz.minisig?token=1");
        assert_eq!(
            Location::parse("/a/index.json").unwrap().join("b.tar.gz").unwrap(),
            Location::File("/a/b.tar.gz".into())
        );
    }

    #[test]
    fn what_is_of_the_network_names_no_file_and_no_service_of_this_machine() {
        let index = Location::parse("https://example.org/index.json").unwrap();
        for to in ["file:///etc/passwd", "http://127.0.0.1:9/x", "http://example.org/x", "../x", "/x", "a//b", ""] {
            assert!(index.join(to).is_err(), "{to}");
            assert!(to.starts_with('/') || redirected(&index, to).is_err(), "{to}");
        }
        assert!(Location::parse("/a/index.json").unwrap().join("file:///b").is_ok());
        assert_eq!(redirected(&index, "/x").unwrap().to_string(), "https://example.org/x");
    }
}
