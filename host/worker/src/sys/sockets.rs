//! A channel for a child that inherits no socket: it is told on its standard input where to connect to, and a secret that nobody else knows.
//!
//! Any program of the machine can connect to the port while it is open. One that does not begin with the secret is hung up on.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub type Channel = TcpStream;

/// How long a child may take to connect, and what has connected to say the secret.
const CONNECTS: Duration = Duration::from_secs(20);
const SAYS: Duration = Duration::from_millis(500);
/// Bytes of the secret as it is said, in hexadecimal digits.
const SECRET: usize = 64;

/// Starts a child by `spawn`, and waits until it has connected.
pub fn start(
    command: &mut Command,
    spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
) -> io::Result<(Child, Channel)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let mut random = [0; SECRET / 2];
    getrandom::fill(&mut random)?;
    let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut child = spawn(command.stdin(Stdio::piped()))?;
    let told =
        child.stdin.take().map_or(Ok(()), |mut input| writeln!(input, "{} {secret}", listener.local_addr()?.port()));
    match told.and_then(|()| meet(&listener, secret.as_bytes(), &mut child)) {
        Ok(channel) => Ok((child, channel)),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

/// Takes the connection that begins with the secret.
fn meet(listener: &TcpListener, secret: &[u8], child: &mut Child) -> io::Result<Channel> {
    let began = Instant::now();
    while began.elapsed() < CONNECTS {
        match listener.accept() {
            Ok((stream, _)) => {
                if says(&stream, secret).unwrap_or(false) {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(None)?;
                    return Ok(stream);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if let Some(status) = child.try_wait()? {
                    return Err(io::Error::other(format!("it ended before it had connected: {status}")));
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("it had not connected after {} s", CONNECTS.as_secs())))
}

fn says(mut stream: &TcpStream, secret: &[u8]) -> io::Result<bool> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SAYS))?;
    let mut said = [0; SECRET];
    stream.read_exact(&mut said)?;
    // How much of it is right takes no part in how long this takes.
    Ok(said.iter().zip(secret).fold(0, |wrong, (one, other)| wrong | (one ^ other)) == 0)
}

/// In the child: connects to where its standard input says.
pub fn adopt(input: impl Read) -> io::Result<Channel> {
    let mut line = String::new();
    io::BufRead::read_line(&mut io::BufReader::new(input.take(2 * SECRET as u64)), &mut line)?;
    let unreadable = || io::Error::new(io::ErrorKind::InvalidData, "standard input does not say where the host is");
    let (port, secret) = line.trim_end().split_once(' ').ok_or_else(unreadable)?;
    let port: u16 = port.parse().map_err(|_| unreadable())?;
    let mut channel = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    channel.set_nodelay(true)?;
    channel.write_all(secret.as_bytes())?;
    Ok(channel)
}

/// In the worker: calls `stop` when the host says no more.
pub fn watch_host(channel: Channel, stop: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        // What waits to be read is for another thread.
        while channel.peek(&mut [0]).is_ok_and(|waiting| waiting > 0) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop();
    });
}

/// Tells the other side that no more comes from here: a worker is to stop what it does, and says how it ended.
pub fn ask_to_stop(channel: &Channel) {
    let _ = channel.shutdown(std::net::Shutdown::Write);
}

/// Tells the other side that this one is over.
pub fn close(channel: &Channel) {
    let _ = channel.shutdown(std::net::Shutdown::Both);
}

/// Waits up to `wait` for bytes. `None`: nothing came; 0: the other end is closed.
pub fn read(channel: &mut Channel, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
    channel.set_read_timeout(Some(wait))?;
    match channel.read(buffer) {
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Ok(None),
            // A worker that was killed while it was written to.
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => Ok(Some(0)),
            _ => Err(error),
        },
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const WAIT: Duration = Duration::from_millis(50);

    /// A child that waits, and the channel of somebody who was told what the child was.
    fn joined() -> (Child, Channel, Channel) {
        let (told, tells) = mpsc::channel();
        let mut command = Command::new("sh");
        // The child hands on what it is told: this test connects in its place.
        command.args(["-c", "read -r line; echo \"$line\"; exec sleep 30"]).stdout(Stdio::piped());
        let (child, ours) = start(&mut command, |command| {
            let mut child = command.spawn()?;
            let output = child.stdout.take().unwrap();
            std::thread::spawn(move || told.send(adopt(output)));
            Ok(child)
        })
        .unwrap();
        (child, ours, tells.recv().unwrap().unwrap())
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_one_side_writes_the_other_reads_and_silence_is_no_end() {
        let (child, mut ours, mut theirs) = joined();
        let mut buffer = [0; 8];
        assert_eq!(read(&mut ours, &mut buffer, WAIT).unwrap(), None);
        theirs.write_all(b"hello").unwrap();
        assert_eq!(read(&mut ours, &mut buffer, WAIT).unwrap(), Some(5));
        assert_eq!(&buffer[..5], b"hello");
        close(&theirs);
        assert_eq!(read(&mut ours, &mut buffer, WAIT).unwrap(), Some(0));
        end(child);
    }

    #[test]
    fn a_worker_hears_that_it_is_to_stop_after_it_has_read_what_came_before_and_can_still_answer() {
        let (child, mut ours, mut theirs) = joined();
        let (stopped, heard) = mpsc::channel();
        watch_host(theirs.try_clone().unwrap(), move || stopped.send(()).unwrap());
        ours.write_all(b"work").unwrap();
        assert!(heard.recv_timeout(WAIT * 2).is_err());
        let mut work = [0; 4];
        theirs.read_exact(&mut work).unwrap();
        ask_to_stop(&ours);
        heard.recv_timeout(Duration::from_secs(5)).unwrap();
        theirs.write_all(b"ended").unwrap();
        assert_eq!(read(&mut ours, &mut [0; 8], Duration::from_secs(5)).unwrap(), Some(5));
        end(child);
    }

    #[test]
    fn another_program_that_connects_first_is_hung_up_on() {
        let (told, tells) = mpsc::channel();
        let mut command = Command::new("sh");
        command.args(["-c", "read -r line; echo \"$line\"; exec sleep 30"]).stdout(Stdio::piped());
        let (child, mut ours) = start(&mut command, |command| {
            let mut child = command.spawn()?;
            let mut output = child.stdout.take().unwrap();
            std::thread::spawn(move || {
                let mut line = [0; 256];
                let read = output.read(&mut line).unwrap();
                let port = std::str::from_utf8(&line[..read]).unwrap().split(' ').next().unwrap().parse().unwrap();
                let mut stranger = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
                stranger.write_all(&[b'0'; SECRET]).unwrap();
                let mut theirs = adopt(&line[..read]).unwrap();
                theirs.write_all(b"mine").unwrap();
                told.send((stranger.read(&mut [0]), theirs)).unwrap();
            });
            Ok(child)
        })
        .unwrap();
        let mut said = [0; 4];
        ours.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"mine");
        let (hung_up, _) = tells.recv().unwrap();
        assert!(hung_up.is_err() || hung_up.is_ok_and(|read| read == 0));
        end(child);
    }

    #[test]
    fn a_child_that_ends_at_once_is_told() {
        let error = start(Command::new("true").stdout(Stdio::null()), Command::spawn).unwrap_err();
        assert!(
            error.to_string().contains("before it had connected") || error.kind() == io::ErrorKind::BrokenPipe,
            "{error}"
        );
    }

    #[test]
    fn an_input_that_is_no_host_is_refused() {
        for input in ["", "no port", "65536 00", "1"] {
            assert_eq!(adopt(input.as_bytes()).unwrap_err().kind(), io::ErrorKind::InvalidData, "{input}");
        }
    }
}
