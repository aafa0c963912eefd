//! What the page is made of, served on loopback: the page, ONNX Runtime Web, and the files of models while they load.
//!
//! Each file is registered under a name, and below a secret that only our page is told: another program of the machine can
//! neither guess a file nor ask for one that was not registered. Whoever asks for another host's page (a foreign name that was
//! made to lead here) gets nothing, either.

use skillbench_plugin_api::{Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tungstenite::Bytes;

/// With them the page is isolated from every other: it may share memory with its workers, and its clock is fine.
const HEADERS: &str = "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n\
                       Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\nConnection: close\r\n";

/// The longest head of a request that is read, and how long it may take: a browser opens connections before it needs them.
const HEAD: u64 = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) enum Content {
    Text(&'static str),
    Bytes(Bytes),
    File(PathBuf),
}

struct Shared {
    files: Mutex<HashMap<String, Content>>,
    stop: AtomicBool,
}

pub(crate) struct Server {
    port: u16,
    secret: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// # Errors
    /// `Internal` where this machine lets nobody listen on loopback.
    pub fn start() -> Result<Server> {
        let failed = |error: io::Error| Error::internal(format!("cannot serve on 127.0.0.1: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let secret = secret()?;
        let shared = Arc::new(Shared { files: Mutex::default(), stop: AtomicBool::new(false) });
        let theirs = Arc::clone(&shared);
        let door = Arc::new(Door { prefix: format!("/{secret}/"), host: authority(port) });
        let serve = move || {
            for stream in listener.incoming() {
                if theirs.stop.load(Ordering::SeqCst) {
                    return;
                }
                let (shared, door) = (Arc::clone(&theirs), Arc::clone(&door));
                let Ok(stream) = stream else { continue };
                // A connection that fails is the browser's to notice.
                let _ =
                    thread::Builder::new().name("browser-file".into()).spawn(move || answer(&stream, &door, &shared));
            }
        };
        let thread = thread::Builder::new().name("browser-server".into()).spawn(serve).map_err(failed)?;
        Ok(Server { port, secret, shared, thread: Some(thread) })
    }

    /// The address that every name is below.
    pub fn root(&self) -> String {
        format!("{}/{}/", self.origin(), self.secret)
    }

    /// As the page's own requests name it.
    pub fn origin(&self) -> String {
        format!("http://{}", authority(self.port))
    }

    /// Serves something under a name, and returns its whole address.
    pub fn add(&self, name: &str, content: Content) -> String {
        self.files().insert(name.into(), content);
        self.root() + name
    }

    pub fn remove(&self, name: &str) {
        self.files().remove(name);
    }

    fn files(&self) -> std::sync::MutexGuard<'_, HashMap<String, Content>> {
        self.shared.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes it up. Where even that fails, the thread is left to the end of the process.
        if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

/// 128 bits that nobody guesses.
///
/// # Errors
/// `Internal` where the system has no randomness to give.
pub(crate) fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal(format!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The host that a request to one of our ports has to name.
pub(crate) fn authority(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// What a request needs to be let in.
struct Door {
    prefix: String,
    host: String,
}

fn answer(stream: &TcpStream, door: &Door, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut head = BufReader::new(stream.take(HEAD));
    let mut first = String::new();
    head.read_line(&mut first)?;
    let mut hosts = vec![];
    let mut line = String::new();
    while head.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            hosts.push(value.trim().to_string());
        }
        line.clear();
    }
    let asked = if hosts == [door.host.as_str()] { requested(&first, &door.prefix) } else { None };
    let content = asked.and_then(|name| {
        let files = shared.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(name).cloned().map(|content| (media_type(name), content))
    });
    match content {
        Some((kind, Content::Text(text))) => send(stream, kind, text.len() as u64, text.as_bytes()),
        Some((kind, Content::Bytes(bytes))) => send(stream, kind, bytes.len() as u64, &bytes[..]),
        Some((kind, Content::File(path))) => match File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)))
        {
            Ok((length, file)) => send(stream, kind, length, file),
            Err(_) => refuse(stream),
        },
        None => refuse(stream),
    }
}

/// The name that a request's first line asks for; `None` for another method, and below another secret.
fn requested<'l>(line: &'l str, prefix: &str) -> Option<&'l str> {
    let (path, _version) = line.strip_prefix("GET ")?.split_once(' ')?;
    let path = path.split('?').next().unwrap_or(path);
    path.strip_prefix(prefix)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("mjs") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

fn send(mut stream: &TcpStream, kind: &str, length: u64, mut body: impl Read) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{HEADERS}\r\n")?;
    io::copy(&mut body, &mut stream)?;
    stream.shutdown(Shutdown::Write)
}

fn refuse(mut stream: &TcpStream) -> io::Result<()> {
    write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n{HEADERS}\r\n")?;
    stream.shutdown(Shutdown::Write)
}

#[cfg(test)]
mod tests {
    use super::{Content, Server};
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn ask(server: &Server, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn only_what_is_registered_is_served_and_only_under_the_secret() {
        let server = Server::start().unwrap();
        let url = server.add("page.mjs", Content::Text("export {}"));
        let secret = &server.secret;
        assert!(url.contains(secret));
        let get = |path: &str| ask(&server, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port));
        let found = get(&format!("/{secret}/page.mjs?link=1"));
        assert!(found.starts_with("HTTP/1.1 200") && found.ends_with("export {}"), "{found}");
        assert!(found.contains("text/javascript") && found.contains("Cross-Origin-Embedder-Policy: require-corp"));
        for path in
            ["/page.mjs", "/", "//etc/hostname", &format!("/{secret}/../../etc/hostname"), &format!("/{secret}/")]
        {
            assert!(get(path).starts_with("HTTP/1.1 404"), "{path}");
        }
        let ours = format!("Host: 127.0.0.1:{}\r\n", server.port);
        let post = ask(&server, &format!("POST /{secret}/page.mjs HTTP/1.1\r\n{ours}\r\n"));
        assert!(post.starts_with("HTTP/1.1 404"), "{post}");
        server.remove("page.mjs");
        assert!(get(&format!("/{secret}/page.mjs")).starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn a_foreign_name_that_leads_here_finds_nothing() {
        let server = Server::start().unwrap();
        server.add("page.mjs", Content::Text("export {}"));
        let ours = format!("Host: 127.0.0.1:{}\r\n", server.port);
        let get = |head: &str| ask(&server, &format!("GET /{}/page.mjs HTTP/1.1\r\n{head}\r\n", server.secret));
        assert!(get(&ours).starts_with("HTTP/1.1 200"));
        let foreign = "Host: attacker.example\r\n";
        for head in [
            "",
            foreign,
            "Host: localhost\r\n",
            "Host: 127.0.0.1\r\n",
            &format!("{ours}{foreign}"),
            &format!("{foreign}{ours}"),
        ] {
            assert!(get(head).starts_with("HTTP/1.1 404"), "{head}");
        }
    }
}
