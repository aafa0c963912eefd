//! The way to a server: its address, and a new connection to it.

use super::connection::Open;
use crate::client::CONNECT;
use crate::failure::{busy, lost, plain, silent, unheard, unknown};
use crate::settings::Settings;
use hyper::Uri;
use skillbench_plugin_api::{Error, Result, Why};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Connections that are asked for at the same time. A server has a queue for those that it has not accepted yet, and what finds no room in it comes a
/// second later.
const AT_ONCE: usize = 64;

pub struct Door {
    url: String,
    host: String,
    port: u16,
    /// Looked up once.
    addresses: Vec<SocketAddr>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    patience: Duration,
    connecting: Semaphore,
    /// A connection was made.
    was_open: AtomicBool,
}

impl Door {
    /// # Errors
    /// `InvalidArgument` for an address that is none.
    pub fn new(settings: &Settings) -> Result<Door> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Door::trusting(settings, roots)
    }

    /// `roots`: who may say that a server is the one that is named, where it is asked over TLS.
    fn trusting(settings: &Settings, roots: RootCertStore) -> Result<Door> {
        let url = &settings.url;
        let wrong = |what: &str| Error::invalid(format!("{url} {what}: it has the form http://HOST:PORT"));
        let uri: Uri = url.parse().map_err(|_| wrong("is no address"))?;
        let host = uri.host().ok_or_else(|| wrong("names no host"))?.trim_matches(['[', ']']).to_string();
        let is_secret = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_secret { 443 } else { 80 });
        let tls = || {
            let name = ServerName::try_from(host.clone()).map_err(|_| wrong("names no host of TLS"))?;
            let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|error| Error::internal(format!("TLS cannot be set up: {error}")))?
                .with_root_certificates(roots)
                .with_no_client_auth();
            Ok((TlsConnector::from(Arc::new(config)), name))
        };
        Ok(Door {
            url: url.clone(),
            tls: is_secret.then(tls).transpose()?,
            host,
            port,
            addresses: vec![],
            patience: CONNECT.min(settings.timeout),
            connecting: Semaphore::new(AT_ONCE),
            was_open: AtomicBool::new(false),
        })
    }

    /// Looks the host up, which waits: once, and before anything is timed.
    ///
    /// # Errors
    /// `Unavailable` where there is none.
    pub fn find(&mut self) -> Result<()> {
        if self.addresses.is_empty() {
            let found = (self.host.as_str(), self.port).to_socket_addrs();
            self.addresses = found.map_err(|_| unknown(&self.url))?.collect();
        }
        match self.addresses.is_empty() {
            true => Err(unknown(&self.url)),
            false => Ok(()),
        }
    }

    /// A new connection.
    ///
    /// # Errors
    /// Whatever is in its way.
    pub async fn open(&self) -> Result<Open> {
        let stream = {
            let _turn = self.connecting.acquire().await;
            let connected = tokio::time::timeout(self.patience, self.connect()).await;
            connected.map_err(|_| self.unanswered())?.map_err(|error| self.unreached(&error))?
        };
        self.was_open.store(true, Relaxed);
        // A question is one small packet, which waits for no other.
        stream.set_nodelay(true).map_err(|error| lost(&self.url, &error))?;
        let Some((tls, name)) = &self.tls else { return self.greeted(Open::over(stream).await) };
        match tls.connect(name.clone(), stream).await {
            Ok(stream) => self.greeted(Open::over(stream).await),
            Err(error) => {
                let text = format!("{} and this machine agree on no TLS ({})", self.url, plain(&error.to_string()));
                Err(Error::internal(format!("{text}: look at its certificate")).because(Why::RUNTIME))
            }
        }
    }

    /// To the first address that answers.
    async fn connect(&self) -> io::Result<TcpStream> {
        let mut failed = None;
        for address in &self.addresses {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()))
    }

    fn unanswered(&self) -> Error {
        if self.was_open.load(Relaxed) { busy(&self.url, self.patience) } else { silent(&self.url) }
    }

    fn unreached(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => unheard(&self.url),
            _ => {
                let text = format!("{} cannot be reached ({error}): is the server running?", self.url);
                Error::unavailable(Why::RUNTIME, text)
            }
        }
    }

    fn greeted(&self, open: hyper::Result<Open>) -> Result<Open> {
        open.map_err(|error| lost(&self.url, &error))
    }
}
