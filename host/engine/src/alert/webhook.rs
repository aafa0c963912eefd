//! Alerts to a webhook: one POST, and a second one where the first did not get through.

use super::document::envelope;
use super::{Alert, Undelivered};
use skillbench_record::defaults::defaults;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Uri;

/// Where to post; http or https.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    address: String,
    /// Scheme, host and port. The rest may be secret.
    origin: String,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("origin", &self.origin).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address that begins with https:// or http://")]
pub struct BadAddress;

impl std::str::FromStr for Webhook {
    type Err = BadAddress;

    fn from_str(address: &str) -> Result<Webhook, BadAddress> {
        let uri: Uri = address.parse().map_err(|_| BadAddress)?;
        match (uri.scheme_str(), uri.host().filter(|host| !host.is_empty())) {
            (Some(scheme @ ("http" | "https")), Some(host)) => {
                let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
                Ok(Webhook { origin: format!("{scheme}://{host}{port}"), address: address.into() })
            }
            _ => Err(BadAddress),
        }
    }
}

/// How an attempt ended.
enum Attempt {
    Received,
    /// Another one may do.
    Passing(String),
    Refused(String),
}

impl Webhook {
    /// Posts all alerts. What the server answers other than its status is not read; redirects are not followed, so that nothing
    /// goes to whom it was not meant for.
    pub fn post(&self, alerts: &[Alert]) -> Result<String, Undelivered> {
        let settings = &defaults().alert;
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("skillbench/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(Duration::from_secs_f64(settings.webhook_s)))
            .build()
            .into();
        let document = envelope(alerts);
        let failed = |why: String| Undelivered { to: self.origin.clone(), why };
        let first = match self.attempt(&agent, &document) {
            Attempt::Received => return Ok(format!("{}: received", self.origin)),
            Attempt::Refused(why) => return Err(failed(why)),
            Attempt::Passing(why) => why,
        };
        std::thread::sleep(Duration::from_secs_f64(settings.webhook_pause_s));
        match self.attempt(&agent, &document) {
            Attempt::Received => Ok(format!("{}: received at the second attempt", self.origin)),
            Attempt::Refused(why) => Err(failed(why)),
            Attempt::Passing(why) if why == first => Err(failed(format!("{why}, twice"))),
            Attempt::Passing(why) => Err(failed(format!("{first}, then {why}"))),
        }
    }

    fn attempt(&self, agent: &Agent, document: &[u8]) -> Attempt {
        let sent = agent.post(&self.address).header("Content-Type", "application/json").send(document);
        match sent {
            Ok(answer) => match answer.status().as_u16() {
                200..=299 => Attempt::Received,
                status @ 300..=399 => Attempt::Refused(format!("it answered {status}: redirects are not followed")),
                status @ (408 | 429 | 500..=599) => Attempt::Passing(format!("it answered {status}")),
                status => Attempt::Refused(format!("it answered {status}")),
            },
            Err(error) => Attempt::Passing(describe(&error)),
        }
    }
}

/// What went wrong, without the address.
fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => format!("no answer within {} s", defaults().alert.webhook_s),
        ureq::Error::HostNotFound => "there is no such host".into(),
        ureq::Error::ConnectionFailed => "no connection".into(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::BadUri(_) => "the address cannot be used".into(),
        other => other.to_string(),
    }
}
