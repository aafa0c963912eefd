//! How many streams the event loop of `openai` holds, and what that costs. Run by a person:
//! `cargo bench --profile release --workspace --bench streams -- STREAMS [TOKENS_A_SECOND] [SECONDS]`. Prints a line of JSON.
//!
//! The server is a process of its own, which sends each stream its tokens at a fixed pace, each by itself. `cores` is the processor time of the loop's thread by
//! the time that the session took. `late_us` is how late requests were issued, `first_us` how long after it was due the first token came, which the server sends at
//! once, and `gap_us` how far tokens were apart: where that is not the pace, server and loop together had not the processors that they need.

use skillbench_endpoint::Streams;
use skillbench_load::arrivals::Arrivals;
use skillbench_load::board::Shift;
use skillbench_load::coming::Coming;
use skillbench_load::session::{Batching, Patience, Plan, Request, Serve, Served, alone};
use skillbench_load::timer::Timer;
use skillbench_plugin_api::{Error, Options, Result};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The word that makes a process the server.
const SERVER: &str = "serve";
/// Seconds in which all streams begin: slowly, since whoever issues requests spins before each.
const RAMP: f64 = 10.0;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == SERVER) {
        return serve(words.get(1).and_then(|word| word.parse().ok()).unwrap_or(20.0));
    }
    let number = |place: usize, usual: f64| words.get(place).map_or(Ok(usual), |word| word.parse::<f64>());
    let (Ok(streams), Ok(pace), Ok(seconds)) = (number(0, 5000.0), number(1, 20.0), number(2, 30.0)) else {
        eprintln!("usage: streams [STREAMS [TOKENS_A_SECOND [SECONDS]]]");
        return ExitCode::from(2);
    };
    match measure(streams as usize, pace, seconds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.message);
            ExitCode::FAILURE
        }
    }
}

/// Ends with this process.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(pace: f64) -> std::io::Result<(Server, String)> {
    let program = std::env::current_exe()?;
    let mut server = Server(
        Command::new(program).args([SERVER, &pace.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?,
    );
    let mut url = String::new();
    if let Some(told) = server.0.stdout.take() {
        BufReader::new(told).read_line(&mut url)?;
    }
    Ok((server, url.trim().into()))
}

/// The worker, and the processor time of its thread in the session.
struct Timed {
    streams: Streams,
    cpu: Arc<AtomicU64>,
}

impl Serve for Timed {
    fn serve(&mut self) -> Result<()> {
        self.streams.serve()
    }

    fn room(&self) -> usize {
        self.streams.room()
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        let before = of_thread();
        let attended = self.streams.attend(shift);
        self.cpu.store(of_thread() - before, Relaxed);
        attended
    }
}

/// Nanoseconds of processor time of this thread.
fn of_thread() -> u64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
    #[cfg(not(unix))]
    0
}

fn measure(streams: usize, pace: f64, seconds: f64) -> Result<()> {
    let (server, url) = started(pace).map_err(|error| Error::internal(format!("the server did not start: {error}")))?;
    let tokens = (pace * seconds).max(2.0) as usize;
    let options = [
        ("url", url.clone()),
        ("model", "m".into()),
        ("rate", "1".into()),
        ("new_tokens", tokens.to_string()),
        ("timeout_s", (3.0 * seconds + 60.0).to_string()),
    ];
    let options = Options(options.map(|(key, value)| (key.to_string(), value)).into());
    let cpu = Arc::new(AtomicU64::new(0));
    let worker = Timed { streams: Streams::new(&options, streams, &Arc::default())?, cpu: Arc::clone(&cpu) };
    let due = Arrivals::Poisson.due(streams as f64 / RAMP, streams, 7);
    let drain = Duration::from_secs_f64(3.0 * seconds + 60.0);
    let patience = Patience { drain, over: None, takes_refusals: false };
    let timer = Timer::calibrated();
    let plan = Plan {
        coming: &Coming::Due(due),
        sizes: None,
        timer: &timer,
        patience,
        batching: Batching::NONE,
        tokens,
        session: 1,
    };
    let served = alone([worker], plan, &|| false)?;
    drop(server);
    told(&served, tokens, Duration::from_nanos(cpu.load(Relaxed)));
    Ok(())
}

fn told(served: &Served, asked: usize, cpu: Duration) {
    let tokens: usize = served.requests.iter().map(|one| one.tokens).sum();
    let wall = served.wall.as_secs_f64();
    let late = sorted(served.requests.iter().map(Request::lateness));
    let first = sorted(served.requests.iter().filter_map(Request::first_token));
    let gaps = sorted(served.gaps.iter().copied());
    let us = |sorted: &[u64], share: f64| {
        sorted
            .get((sorted.len() as f64 * share) as usize)
            .map_or("null".into(), |ns| format!("{:.1}", *ns as f64 * 1e-3))
    };
    let of = |sorted: &[u64]| {
        format!("{{\"p50\":{},\"p90\":{},\"p99\":{}}}", us(sorted, 0.5), us(sorted, 0.9), us(sorted, 0.99))
    };
    println!(
        "{{\"streams\":{},\"not_served\":{},\"held_at_once\":{},\"tokens\":{tokens},\"tokens_lost\":{},\"seconds\":{wall:.2},\"tokens_per_s\":{:.0},\"loop_cpu_s\":{:.2},\"cores\":{:.3},\"cpu_us_per_token\":{:.2},\"late_us\":{},\"first_us\":{},\"gap_us\":{}}}",
        served.requests.len(),
        served.left(),
        held_at_once(served),
        served.requests.len() * asked - tokens,
        tokens as f64 / wall,
        cpu.as_secs_f64(),
        cpu.as_secs_f64() / wall,
        cpu.as_secs_f64() * 1e6 / tokens.max(1) as f64,
        of(&late),
        of(&first),
        of(&gaps),
    );
}

/// The most requests that were between their first token and their last at one moment.
fn held_at_once(served: &Served) -> usize {
    let times = served.requests.iter().filter_map(|one| Some((one.first?, one.served?[1])));
    let mut changes: Vec<(u64, i64)> = times.flat_map(|(first, last)| [(first, 1), (last, -1)]).collect();
    changes.sort_unstable();
    let (mut now, mut most) = (0i64, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most as usize
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// The server: until whoever started it is gone.
fn serve(pace: f64) -> ExitCode {
    std::thread::spawn(|| {
        let _ = std::io::stdin().lines().count();
        std::process::exit(0);
    });
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map(|runtime| runtime.block_on(accept(pace))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) | Err(error) => {
            eprintln!("server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn accept(pace: f64) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(4096)?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(stream_after_stream(stream, pace));
    }
}

async fn stream_after_stream(mut stream: TcpStream, pace: f64) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut asked = vec![];
    loop {
        asked.clear();
        while !asked.ends_with(b"}") {
            if stream.read_buf(&mut asked).await? == 0 {
                return Ok(());
            }
        }
        let text = String::from_utf8_lossy(&asked);
        let tokens = text.split("\"max_tokens\":").nth(1).and_then(|rest| rest.split([',', '}']).next()?.parse().ok());
        let tokens: usize = tokens.unwrap_or(1);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            .await?;
        // As vLLM sends them.
        let event = "data: {\"id\":\"cmpl-3f2a9c1d8e7b4a60\",\"object\":\"text_completion\",\"created\":1764300000,\"model\":\"m\",\"choices\":[{\"index\":0,\"text\":\" word\",\"logprobs\":null,\"finish_reason\":null,\"stop_reason\":null}],\"usage\":null}\n\n";
        let event = format!("{:x}\r\n{event}\r\n", event.len());
        let (start, mut sent) = (Instant::now(), 0);
        while sent < tokens {
            stream.write_all(event.as_bytes()).await?;
            sent += 1;
            let next = start + Duration::from_secs_f64(sent as f64 / pace);
            tokio::time::sleep_until(next.into()).await;
        }
        let done = "data: [DONE]\n\n";
        stream.write_all(format!("{:x}\r\n{done}\r\n0\r\n\r\n", done.len()).as_bytes()).await?;
    }
}
