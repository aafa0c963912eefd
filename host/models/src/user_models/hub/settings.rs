//! How the hub is reached, from the environment: the same variables that other tools read, so that one cache and one token serve all.

use super::{HubError, defaults};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Proxy;
use ureq::tls::{Certificate, PemItem, parse_pem};

/// Everything that the client goes by.
#[derive(Clone)]
pub struct Settings {
    /// Without a slash at its end.
    pub endpoint: String,
    /// The folder of all repositories.
    pub cache: PathBuf,
    pub token: Option<String>,
    /// The variable that forbids the network.
    pub offline: Option<String>,
    pub proxy: Option<Proxy>,
    /// Certificates that are trusted in place of the usual ones.
    pub certificates: Vec<Certificate<'static>>,
    pub attempts: u32,
    pub pause: Duration,
    pub read_timeout: Duration,
}

impl std::fmt::Debug for Settings {
    // The token stays out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Settings { endpoint, cache, token, offline, .. } = self;
        let token = token.as_ref().map(|_| "set");
        f.debug_struct("Settings")
            .field("endpoint", endpoint)
            .field("cache", cache)
            .field("token", &token)
            .field("offline", offline)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// From this process's environment.
    ///
    /// # Errors
    /// A variable that says what cannot be.
    pub fn from_environment() -> Result<Settings, HubError> {
        Settings::from(|name| std::env::var_os(name), Proxy::try_from_env())
    }

    pub(super) fn from(
        variable: impl Fn(&str) -> Option<OsString>,
        proxy: Option<Proxy>,
    ) -> Result<Settings, HubError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text =
            |name: &str| set(name).and_then(|value| value.into_string().ok()).map(|text| text.trim().to_string());
        let folder = |name: &str| set(name).map(|value| skillbench_record::paths::expand(&value.to_string_lossy()));
        let home = folder("HF_HOME").unwrap_or_else(|| {
            let base = folder("XDG_CACHE_HOME").unwrap_or_else(|| skillbench_record::paths::expand("~/.cache"));
            base.join("huggingface")
        });
        let cache =
            folder("HF_HUB_CACHE").or_else(|| folder("HUGGINGFACE_HUB_CACHE")).unwrap_or_else(|| home.join("hub"));
        let token_file = folder("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
        let token = text("HF_TOKEN").or_else(|| text("HUGGING_FACE_HUB_TOKEN")).or_else(|| token_in(&token_file));
        let token = match token {
            Some(token) if !token.chars().all(|c| c.is_ascii_graphic()) => {
                return Err(HubError::Setting { text: "the token holds signs that no token has".into() });
            }
            token => token.filter(|token| !token.is_empty()),
        };
        let endpoint = text("HF_ENDPOINT").unwrap_or_else(|| defaults().endpoint.clone());
        let endpoint = endpoint.trim_end_matches('/').to_string();
        if !["http://", "https://"].iter().any(|scheme| endpoint.len() > scheme.len() && endpoint.starts_with(scheme)) {
            let text = format!("HF_ENDPOINT is '{endpoint}'; expected an address that begins with https:// or http://");
            return Err(HubError::Setting { text });
        }
        let is_on = |name: &&str| text(name).is_some_and(|value| is_true(&value));
        let offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"].into_iter().find(is_on).map(String::from);
        let bundle = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
        let bundle = bundle.into_iter().find_map(|name| Some((name, folder(name)?)));
        let certificates = match bundle {
            Some((name, path)) => certificates(name, &path)?,
            None => vec![],
        };
        Ok(Settings {
            endpoint,
            cache: std::path::absolute(&cache).unwrap_or(cache),
            token,
            offline,
            proxy,
            certificates,
            attempts: defaults().attempts,
            pause: Duration::from_secs_f64(defaults().pause_s),
            read_timeout: Duration::from_secs_f64(defaults().read_s),
        })
    }
}

/// As the other tools read it.
fn is_true(value: &str) -> bool {
    ["1", "on", "yes", "true"].contains(&value.to_lowercase().as_str())
}

fn token_in(file: &Path) -> Option<String> {
    Some(std::fs::read_to_string(file).ok()?.trim().to_string())
}

/// A company's own certificates.
fn certificates(variable: &str, path: &Path) -> Result<Vec<Certificate<'static>>, HubError> {
    // Some tools take a folder here; the usual certificates serve then.
    if path.is_dir() {
        return Ok(vec![]);
    }
    let bad = |what: String| HubError::Setting { text: format!("{variable} names {}: {what}", path.display()) };
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let found = parse_pem(&text).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() { Err(bad("there is no certificate in it".into())) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn with(variables: &[(&str, &str)]) -> Result<Settings, HubError> {
        let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
        Settings::from(|name| variables.get(name).map(OsString::from), None)
    }

    #[test]
    fn the_cache_is_where_other_tools_keep_it() {
        let cache = |variables: &[(&str, &str)]| with(variables).unwrap().cache;
        assert_eq!(cache(&[("HF_HOME", "/a")]), Path::new("/a/hub"));
        assert_eq!(cache(&[("HF_HOME", "/a"), ("HF_HUB_CACHE", "/b")]), Path::new("/b"));
        assert_eq!(cache(&[("XDG_CACHE_HOME", "/c")]), Path::new("/c/huggingface/hub"));
        assert!(cache(&[]).ends_with(".cache/huggingface/hub"));
    }

    #[test]
    fn the_token_is_taken_from_its_variable_then_from_the_file_and_never_shown() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_str().unwrap();
        assert_eq!(with(&[("HF_HOME", folder)]).unwrap().token, None);
        std::fs::write(home.path().join("token"), "hf_file\n").unwrap();
        assert_eq!(with(&[("HF_HOME", folder)]).unwrap().token.as_deref(), Some("hf_file"));
        let settings = with(&[("HF_HOME", folder), ("HF_TOKEN", "hf_variable")]).unwrap();
        assert_eq!(settings.token.as_deref(), Some("hf_variable"));
        assert!(!format!("{settings:?}").contains("hf_variable"));
        assert!(with(&[("HF_TOKEN", "a\nb")]).is_err());
    }

    #[test]
    fn the_endpoint_is_the_users_or_the_usual_one() {
        assert_eq!(with(&[]).unwrap().endpoint, defaults().endpoint);
        assert_eq!(with(&[("HF_ENDPOINT", "http://mirror:8/hf/")]).unwrap().endpoint, "http://mirror:8/hf");
        let error = with(&[("HF_ENDPOINT", "mirror")]).unwrap_err().to_string();
        assert!(error.contains("HF_ENDPOINT is 'mirror'"), "{error}");
    }

    #[test]
    fn offline_is_said_by_either_variable() {
        let offline = |variables: &[(&str, &str)]| with(variables).unwrap().offline;
        assert_eq!(offline(&[("HF_HUB_OFFLINE", "1")]).as_deref(), Some("HF_HUB_OFFLINE"));
        assert_eq!(offline(&[("TRANSFORMERS_OFFLINE", "TRUE")]).as_deref(), Some("TRANSFORMERS_OFFLINE"));
        assert_eq!(offline(&[("HF_HUB_OFFLINE", "0")]), None);
    }

    #[test]
    fn a_file_of_certificates_without_any_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, "nothing").unwrap();
        let error = with(&[("SSL_CERT_FILE", file.to_str().unwrap())]).unwrap_err().to_string();
        assert!(error.contains("SSL_CERT_FILE") && error.contains("no certificate"), "{error}");
    }
}
