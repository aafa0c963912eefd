//! The options: where the server is, and how to talk to it.

use skillbench_plugin_api::{Error, Options, Result, Why};
use std::time::Duration;
use ureq::http::Uri;

/// The key that a server asks for. It comes from the environment alone: options are stored with the results.
const KEY: &str = "SKILLBENCH_ENDPOINT_KEY";
const TIMEOUT_S: f64 = 60.0;

/// How tensors go over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Json,
    /// The extension `binary_tensor_data`: as bytes, behind the JSON.
    Binary,
}

#[derive(Clone)]
pub struct Settings {
    /// Without a slash at its end.
    pub url: String,
    /// Host and port.
    pub authority: String,
    /// `None`: the served model whose ports are those of the graph.
    pub model: Option<String>,
    pub version: Option<String>,
    /// `None`: bytes where the server has the extension.
    pub encoding: Option<Encoding>,
    /// Of one request, from its start to the end of its answer.
    pub timeout: Duration,
    pub key: Option<String>,
}

impl Settings {
    /// # Errors
    /// `Unavailable` where no server is named, `InvalidArgument` for an address that is none.
    pub fn of(options: &Options) -> Result<Settings> {
        let url = options.get("url").ok_or_else(|| {
            let text = "no server is named: set `--option endpoint:url=http://HOST:PORT`";
            Error::unavailable(Why::RUNTIME, text)
        })?;
        let authority = authority(url)?;
        let encoding = match options.get("encoding") {
            None | Some("auto") => None,
            Some("json") => Some(Encoding::Json),
            Some("binary") => Some(Encoding::Binary),
            Some(other) => return Err(Error::invalid(format!("encoding '{other}' is none of auto, json, binary"))),
        };
        let seconds = options.parse("timeout_s")?.unwrap_or(TIMEOUT_S);
        let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero());
        Ok(Settings {
            url: url.trim_end_matches('/').into(),
            authority,
            model: options.get("model").map(String::from),
            version: options.get("version").map(String::from),
            encoding,
            timeout: timeout.ok_or_else(|| Error::invalid(format!("timeout_s: {seconds} is no time to wait")))?,
            key: std::env::var(KEY).ok().filter(|key| !key.is_empty()),
        })
    }
}

/// An address as it may be shown: what stands behind a question mark may be a secret.
pub fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Host and port of an address that can be used.
fn authority(url: &str) -> Result<String> {
    let shown = without_query(url);
    let wrong = |what: &str| Error::invalid(format!("url '{shown}' {what}: it has the form http://HOST:PORT"));
    // What stands before an @ is a secret, and is not repeated.
    if url.contains('@') {
        return Err(Error::invalid(format!(
            "the url has a name or a key in it: give the key as {KEY} in the environment"
        )));
    }
    let uri: Uri = url.parse().map_err(|_| wrong("is no address"))?;
    let authority = uri.authority().ok_or_else(|| wrong("names no host"))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.query().is_none() && !url.contains('#') => Ok(authority.to_string()),
        Some("http" | "https") => Err(wrong("has a query")),
        _ => Err(wrong("is none of http")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Settings> {
        Settings::of(&Options(pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()))
    }

    #[test]
    fn an_address_keeps_its_path_and_loses_its_last_slash() {
        let settings = of(&[("url", "https://serve.example:8443/team/")]).unwrap();
        assert_eq!(
            (settings.url.as_str(), settings.authority.as_str()),
            ("https://serve.example:8443/team", "serve.example:8443")
        );
        assert_eq!((settings.encoding, settings.timeout), (None, Duration::from_secs(60)));
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_form_of_one() {
        for url in ["localhost:8080", "ftp://a:1", "http://", "http://a:1/?x=1", "http://a:1#x", "file:///etc/passwd"] {
            let told = of(&[("url", url)]).err().unwrap();
            assert!(told.message.contains("http://HOST:PORT"), "{url}: {}", told.message);
        }
        assert!(of(&[]).err().unwrap().message.contains("--option endpoint:url="));
        assert!(of(&[("url", "http://a:1"), ("timeout_s", "0")]).is_err());
        assert!(of(&[("url", "http://a:1"), ("timeout_s", "-1")]).is_err());
    }

    #[test]
    fn a_secret_in_the_address_is_refused_and_not_repeated() {
        for url in ["http://me:hunter2@a:1", "http://a:1?key=hunter2", "a:1?key=hunter2"] {
            let told = of(&[("url", url)]).err().unwrap();
            assert!(!told.message.contains("hunter2"), "{}", told.message);
        }
    }
}
