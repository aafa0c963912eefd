//! Files of a folder over HTTP, on the loopback interface.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// A server that lives as long as the tests.
pub struct Server {
    pub address: String,
}

impl Server {
    /// Serves a folder. What is asked for below `/cut/` ends early, below `/moved/` it is somewhere else, below `/out/` outside.
    pub fn of(folder: &Path) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (folder, own) = (folder.to_path_buf(), address.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (folder, own) = (folder.clone(), own.clone());
                std::thread::spawn(move || answer(stream, &folder, &own));
            }
        });
        Server { address }
    }

    /// An address that nobody listens on.
    pub fn down() -> String {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        format!("http://{free}")
    }
}

fn answer(mut stream: TcpStream, folder: &Path, own: &str) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let asked = lines.next()?.ok()?;
    lines.map_while(Result::ok).find(String::is_empty);
    let path =
        asked.split(' ').nth(1)?.trim_start_matches('/').split('?').next()?.replace("%2f", "/").replace("%2F", "/");
    let mut send = |status: &str, headers: &str, body: &[u8], size: usize| {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {size}\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()
    };
    if let Some(path) = path.strip_prefix("moved/") {
        return send("302 Found", &format!("Location: {own}/{path}\r\n"), b"", 0);
    }
    if path.starts_with("out/") {
        return send("302 Found", "Location: http://example.invalid/x\r\n", b"", 0);
    }
    let (path, cut) = path.strip_prefix("cut/").map_or((path.as_str(), false), |path| (path, true));
    let file: PathBuf = folder.join(path);
    match std::fs::read(&file).or_else(|_| std::fs::read(file.join("index.json"))) {
        Ok(bytes) => send("200 OK", "", &bytes[..if cut { bytes.len() / 2 } else { bytes.len() }], bytes.len()),
        Err(_) => send("404 Not Found", "", b"", 0),
    }
}
