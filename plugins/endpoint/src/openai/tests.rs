//! Streams of a real server on loopback, as a session has them.

use super::{Noticed, Streams};
use skillbench_load::board::Shift;
use skillbench_load::coming::Coming;
use skillbench_load::session::{Batching, Patience, Plan, Serve, Served, alone};
use skillbench_load::timer::Timer;
use skillbench_load::trace::{Played, Trace};
use skillbench_plugin_api::{Code, Options, Result};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const PIECE: &str = "data: {\"choices\":[{\"text\":\"a\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// A question as it came; `None`: the connection is closed. Its body is an object, which may come after its head.
fn question(stream: &mut TcpStream) -> Option<String> {
    let (mut asked, mut some) = (vec![], [0; 4096]);
    while !asked.ends_with(b"}") {
        match stream.read(&mut some) {
            Ok(read) if read > 0 => asked.extend(&some[..read]),
            _ => return None,
        }
    }
    String::from_utf8(asked).ok()
}

fn event(stream: &mut TcpStream, event: &str) {
    let _ = stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
}

fn end(stream: &mut TcpStream) {
    event(stream, DONE);
    let _ = stream.write_all(b"0\r\n\r\n");
}

/// A server that answers each question of each connection, as long as `answer` says that the connection stays, and how many connections it had.
fn server(answer: impl Fn(&mut TcpStream, &str) -> bool + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, connections) = (format!("http://{}", listener.local_addr().unwrap()), Arc::new(AtomicUsize::new(0)));
    let (counted, answer) = (Arc::clone(&connections), Arc::new(answer));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            counted.fetch_add(1, SeqCst);
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || while question(&mut stream).is_some_and(|asked| answer(&mut stream, &asked)) {});
        }
    });
    (url, connections)
}

/// A server that answers each question with a token, and what it was asked.
fn hearing() -> (String, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    let (url, _) = server(move |stream, question| {
        heard.lock().unwrap().push(question.into());
        let _ = stream.write_all(HEAD);
        event(stream, PIECE);
        end(stream);
        true
    });
    (url, asked)
}

fn streams(url: &str, workers: usize, more: &[(&str, &str)]) -> (Streams, Arc<Noticed>) {
    let options = [("url", url), ("model", "m"), ("rate", "1")];
    let options = options.iter().chain(more).map(|(key, value)| ((*key).into(), (*value).into()));
    let noticed = Arc::default();
    (Streams::new(&Options(options.collect()), workers, &noticed).unwrap(), noticed)
}

/// A session of so many requests, all due at once, each of at most so many tokens.
fn session(worker: impl Serve, requests: usize, tokens: usize, patience: Patience<'_>) -> Result<Served> {
    let played = Played { coming: Coming::Due(vec![0; requests]), sizes: None };
    play(worker, &played, tokens, patience)
}

fn play(worker: impl Serve, played: &Played, tokens: usize, patience: Patience<'_>) -> Result<Served> {
    let (Played { coming, sizes }, timer) = (played, Timer::calibrated());
    let (sizes, batching) = (sizes.as_ref(), Batching::NONE);
    let plan = Plan { coming, sizes, timer: &timer, patience, batching, tokens, session: 1 };
    alone([worker], plan, &|| false)
}

const PATIENT: Patience<'static> = Patience { drain: Duration::from_secs(60), over: None, takes_refusals: false };

/// Tells which threads serve.
struct Watched(Streams, Arc<Mutex<BTreeSet<String>>>);

impl Serve for Watched {
    fn serve(&mut self) -> Result<()> {
        self.0.serve()
    }

    fn room(&self) -> usize {
        self.0.room()
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        let id: ThreadId = std::thread::current().id();
        self.1.lock().unwrap().insert(format!("{id:?}"));
        self.0.attend(shift)
    }
}

#[test]
fn two_hundred_streams_are_under_way_at_once_on_one_thread_and_no_token_is_lost() {
    const STREAMS: usize = 200;
    // Nobody gets a token before all have asked.
    let all = Barrier::new(STREAMS);
    let (url, connections) = server(move |stream, _| {
        all.wait();
        let _ = stream.write_all(HEAD);
        for _ in 0..7 {
            event(stream, PIECE);
        }
        end(stream);
        true
    });
    let (streams, noticed) = streams(&url, STREAMS, &[("new_tokens", "7")]);
    let threads = Arc::default();
    let served = session(Watched(streams, Arc::clone(&threads)), 2 * STREAMS, 7, PATIENT).unwrap();
    assert_eq!((served.requests.len(), served.left(), threads.lock().unwrap().len()), (2 * STREAMS, 0, 1));
    assert_eq!(connections.load(SeqCst), STREAMS, "each is used again");
    assert!(served.requests.iter().all(|one| one.tokens == 7 && one.first.is_some()));
    assert_eq!(served.gaps.len(), 2 * STREAMS * 6);
    let [first, second] = [&served.requests[..STREAMS], &served.requests[STREAMS..]];
    let last_taken = first.iter().filter_map(|one| one.served).map(|[taken, _]| taken).max();
    let first_end = first.iter().filter_map(|one| one.served).map(|[_, end]| end).min();
    assert!(last_taken < first_end && second.iter().all(|one| one.served.unwrap()[0] >= first_end.unwrap()));
    assert!(!noticed.counts_otherwise.load(SeqCst), "it does not say");
}

#[test]
fn tokens_are_timed_as_they_come_and_requests_go_over_one_connection() {
    let (url, connections) = server(|stream, _| {
        let _ = stream.write_all(HEAD);
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(20));
            event(stream, PIECE);
        }
        std::thread::sleep(Duration::from_millis(20));
        event(stream, "data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\n");
        end(stream);
        true
    });
    let (mut streams, noticed) = streams(&url, 1, &[]);
    streams.serve().unwrap();
    let served = session(streams, 3, 2, PATIENT).unwrap();
    for one in &served.requests {
        let ([taken, end], first) = (one.served.unwrap(), one.first.unwrap());
        assert!(first >= taken + 20_000_000 && end >= first + 10_000_000, "{one:?}");
    }
    assert_eq!(connections.load(SeqCst), 1);
    assert!(noticed.counts_otherwise.load(SeqCst), "two pieces are three tokens");
}

#[test]
fn answers_that_are_not_as_long_as_asked_are_noticed() {
    let (url, _) = server(|stream, asked| {
        let _ = stream.write_all(HEAD);
        (0..3).for_each(|_| event(stream, PIECE));
        if asked.contains("\"max_tokens\":4") {
            event(stream, "data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\n");
        }
        end(stream);
        true
    });
    let told = |options: &[(&str, &str)]| {
        let (streams, noticed) = streams(&url, 1, options);
        session(streams, 3, 4, PATIENT).map(|_| noticed.told().collect::<Vec<_>>())
    };
    assert_eq!(told(&[("new_tokens", "3")]).unwrap(), Vec::<&str>::new());
    assert!(told(&[("new_tokens", "4")]).unwrap().concat().contains("ends answers before"));
    assert!(told(&[("new_tokens", "4"), ("ignore_eos", "off")]).unwrap().is_empty(), "it may end where it likes");
    assert!(told(&[("new_tokens", "5")]).unwrap().is_empty(), "nobody says how many tokens the pieces are");
    let error = told(&[("new_tokens", "1")]).unwrap_err();
    assert!(error.message.contains("3 pieces of text for at most 1 tokens"), "{error}");
}

#[test]
fn each_request_has_its_key_and_words_of_its_own() {
    let (url, asked) = hearing();
    session(streams(&url, 2, &[("new_tokens", "1")]).0, 5, 1, PATIENT).unwrap();
    let asked = asked.lock().unwrap();
    let bodies: BTreeSet<&str> = asked.iter().filter_map(|asked| Some(asked.split_once("\r\n\r\n")?.1)).collect();
    assert_eq!(bodies.len(), 5, "{bodies:?}");
    assert!(asked.iter().all(|asked| asked.starts_with("POST /v1/completions HTTP/1.1\r\n")), "{asked:?}");
    let host = format!("host: {}\r\n", url.trim_start_matches("http://"));
    assert!(asked.iter().all(|asked| asked.contains(&host) && !asked.to_lowercase().contains("authorization")));
}

/// A conversation: each prompt has all that was said before it, and something more.
#[test]
fn prompts_of_a_trace_share_what_it_says_that_they_share() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.jsonl");
    let line = |number: usize| {
        let (parts, words) = ((0..=number).collect::<Vec<_>>(), 8 * number + 5);
        format!(
            "{{\"timestamp\": {number}, \"input_length\": {words}, \"output_length\": 1, \"hash_ids\": {parts:?}}}\n"
        )
    };
    std::fs::write(&file, (0..13).map(line).collect::<String>()).unwrap();
    let mut trace = Trace::read(&file).unwrap();
    trace.share(8).unwrap();
    let (url, asked) = hearing();
    play(streams(&url, 1, &[]).0, &trace.played(1e4), 1, PATIENT).unwrap();
    let asked = asked.lock().unwrap();
    let prompts = asked.iter().map(|asked| {
        let body: serde_json::Value = serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap();
        body["prompt"].as_str().unwrap().split(' ').map(String::from).collect::<Vec<_>>()
    });
    let mut prompts: Vec<_> = prompts.collect();
    prompts.sort_by_key(Vec::len);
    assert_eq!(prompts.iter().map(Vec::len).collect::<Vec<_>>(), (0..13).map(|n| 8 * n + 5).collect::<Vec<_>>());
    for pair in prompts.windows(2) {
        assert!(pair[1].starts_with(&pair[0]), "{pair:?}");
    }
}

#[test]
fn a_connection_that_the_server_closed_in_between_is_made_anew() {
    let (url, connections) = server(|stream, _| {
        let _ = stream.write_all(HEAD);
        event(stream, PIECE);
        end(stream);
        false
    });
    let (mut streams, _) = streams(&url, 1, &[]);
    for _ in 0..4 {
        streams.serve().unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(connections.load(SeqCst), 4);
}

#[test]
fn a_server_that_closes_behind_each_answer_is_known_after_its_first_and_loses_no_request() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    let (url, connections) = server(move |stream, question| {
        heard.lock().unwrap().push(question.to_lowercase());
        let _ = stream.write_all(HEAD);
        event(stream, PIECE);
        end(stream);
        // Whoever asks again is quicker than this.
        std::thread::sleep(Duration::from_millis(1));
        false
    });
    let (mut streams, noticed) = streams(&url, 1, &[("new_tokens", "1")]);
    streams.serve().unwrap();
    let served = session(streams, 50, 1, PATIENT).unwrap();
    assert_eq!((served.requests.len(), served.left(), connections.load(SeqCst)), (50, 0, 51));
    let asked = asked.lock().unwrap();
    let closing = asked.iter().filter(|asked| asked.contains("connection: close\r\n")).count();
    assert!(closing == 50 && !asked[0].contains("connection: close"), "{closing} of {}", asked.len());
    assert_eq!(noticed.told().filter(|text| text.contains("closes each connection")).count(), 1);
}

#[test]
fn a_connection_that_was_idle_for_long_says_nothing_of_how_a_server_ends_its_answers() {
    let one_by_one = Mutex::new(());
    let (url, connections) = server(move |stream, _| {
        let _turn = one_by_one.lock().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let _ = stream.write_all(HEAD);
        event(stream, PIECE);
        end(stream);
        // Whoever asks later than this finds it closed.
        let _ = stream.set_read_timeout(Some(Duration::from_millis(350)));
        true
    });
    let (mut streams, noticed) = streams(&url, 4, &[("new_tokens", "1")]);
    streams.serve().unwrap();
    assert_eq!((noticed.told().count(), connections.load(SeqCst)), (0, 4));
}

#[test]
fn what_breaks_off_ends_the_session_with_what_happened_and_is_not_asked_again() {
    type Answer = fn(&mut TcpStream);
    let cases: [(&str, Answer); 7] = [
        ("broke off its stream (", |stream| {
            let _ = stream.write_all(HEAD);
            event(stream, PIECE);
        }),
        ("closed its stream after 1 tokens", |stream| {
            let _ = stream.write_all(HEAD);
            event(stream, PIECE);
            let _ = stream.write_all(b"0\r\n\r\n");
        }),
        ("it was closed before the answer was whole", |_| {}),
        ("on to http://a.invalid/", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: http://a.invalid/\r\nContent-Length: 0\r\n\r\n");
        }),
        ("answers 400: ignore_eos", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n{\"error\":{\"message\":\"ignore_eos: what\"}}");
        }),
        ("no JSON", |stream| {
            let _ = stream.write_all(HEAD);
            event(stream, "data: {\"choices\": 5}\n\n");
        }),
        ("was lost", |stream| {
            let _ = stream.write_all(b"SSH-2.0-what\r\n\r\n");
        }),
    ];
    for (wanted, answer) in cases {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let (url, _) = server(move |stream, _| {
            counted.fetch_add(1, SeqCst);
            answer(stream);
            false
        });
        let told = session(streams(&url, 1, &[]).0, 3, 2, PATIENT).unwrap_err();
        assert!(told.message.contains(wanted) && told.message.contains(&url), "{wanted}: {}", told.message);
        assert_eq!(asked.load(SeqCst), 1, "{wanted}");
    }
}

#[test]
fn where_nobody_is_the_next_step_is_told() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = |url: &str| streams(url, 2, &[]).0.serve().unwrap_err();
    let unheard = told(&format!("http://{free}"));
    assert!(unheard.code == Code::Unavailable && unheard.message.contains("nobody listens"), "{}", unheard.message);
    let unknown = told("http://nowhere.invalid:1");
    assert!(unknown.message.contains("there is no such host"), "{}", unknown.message);
}

#[test]
fn refusals_and_lateness_count_where_they_may_and_the_others_go_on() {
    let count = AtomicUsize::new(0);
    let (url, connections) = server(move |stream, _| {
        match count.fetch_add(1, SeqCst) % 3 {
            0 => {
                let busy = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 24\r\n\r\n{\"error\": \"come later \"}";
                let _ = stream.write_all(busy);
            }
            1 => {
                let _ = stream.write_all(HEAD);
                event(stream, PIECE);
                // Longer than anybody waits.
                let _ = stream.read(&mut [0; 1]);
                return false;
            }
            _ => {
                let _ = stream.write_all(HEAD);
                event(stream, PIECE);
                end(stream);
            }
        }
        true
    });
    let (worker, _) = streams(&url, 1, &[("timeout_s", "0.3")]);
    let served = session(worker, 6, 1, Patience { takes_refusals: true, ..PATIENT }).unwrap();
    assert_eq!((served.requests.len(), served.refused(), served.left()), (6, 4, 0));
    assert_eq!(connections.load(SeqCst), 3, "a refusal keeps its connection, one that is late does not");
    let told = session(streams(&url, 1, &[("timeout_s", "0.3")]).0, 1, 1, PATIENT).unwrap_err();
    assert_eq!((told.code, told.message.contains("answers 429")), (Code::ResourceExhausted, true), "{}", told.message);
    let told = session(streams(&url, 1, &[("timeout_s", "0.3")]).0, 1, 1, PATIENT).unwrap_err();
    assert_eq!(told.code, Code::DeadlineExceeded);
    assert!(told.message.contains("did not end its stream") && told.message.contains("openai:timeout_s="));
}

#[test]
fn a_session_that_is_over_drops_what_is_under_way_at_once() {
    let (gone, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (leaves, asks) = (Arc::clone(&gone), Arc::clone(&counted));
    let (url, _) = server(move |stream, _| {
        asks.fetch_add(1, SeqCst);
        let _ = stream.write_all(HEAD);
        event(stream, PIECE);
        // Nothing more is asked: the other side has gone.
        let _ = stream.read(&mut [0; 1]);
        leaves.fetch_add(1, SeqCst);
        false
    });
    let start = Instant::now();
    let patience = Patience { drain: Duration::from_secs(2), ..PATIENT };
    let served = session(streams(&url, 8, &[]).0, 20, 9, patience).unwrap();
    assert_eq!((served.requests.len(), served.left()), (20, 20));
    let asked = counted.load(SeqCst);
    while gone.load(SeqCst) < asked {
        assert!(start.elapsed() < Duration::from_secs(50), "{} of {asked} have gone", gone.load(SeqCst));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(asked <= 8, "no more than there is room for: {asked}");
}
