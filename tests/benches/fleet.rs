//! What the courier of a fleet takes, with a server that writes to disk before it says so. Run by a person, after `scripts/setup` and
//! `host runtime install nats`: `cargo bench --profile release -p skillbench-tests --bench fleet`.
//!
//! Goals, in the median: a job published and acknowledged 1 ms, delivered 1 ms; and of deliveries 99% within 10 ms.

mod times;

use skillbench_fleet::courier::nats::NatsCourier;
use skillbench_fleet::courier::{Courier, Settle};
use skillbench_fleet::keys::Pass;
use skillbench_fleet::names;
use skillbench_tests::World;
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use times::show;

const MESSAGES: usize = 1000;
/// As large as the outcome of a cell without its samples.
const BODY: usize = 4096;
const WAIT: Duration = Duration::from_secs(5);

/// The server, which ends with this bench.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        // Asked to end, so that it takes what it started with it.
        let _ = std::process::Command::new("kill").arg(pid).status();
        let _ = self.0.wait();
    }
}

fn main() {
    let world = World::apart();
    std::fs::create_dir(world.path().join("data")).expect("a folder can be made");
    let runtimes = skillbench_record::paths::data().join("runtimes");
    std::os::unix::fs::symlink(runtimes, world.path().join("data/runtimes")).expect("a link can be made");
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free").port();
    world.host(&["fleet", "init", "lab", "--address", &format!("127.0.0.1:{port}")]).exits_with(0);
    world.host(&["fleet", "user", "lab", "h1", "--role", "agent"]).exits_with(0);
    world.host(&["fleet", "user", "lab", "me", "--role", "submitter"]).exits_with(0);
    let mut serve = world.command(&["fleet", "serve", "lab"]);
    let serve = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the host can be started");
    let _server = Server(serve);
    let (submitter, agent) = (connected(&world, "me.fleet"), connected(&world, "h1.fleet"));
    println!("server {}, TLS, each write synced", submitter.server_version());
    let body = vec![b'x'; BODY];

    let publish = |lot: usize| {
        let start = Instant::now();
        submitter.store(&names::job("h1", "bench", &lot.to_string()), &body).expect("a job can be published");
        milliseconds(start)
    };
    show("a job published and acknowledged", (0..MESSAGES).map(publish).collect());
    let ask = |_: usize| {
        let start = Instant::now();
        assert_eq!(agent.waiting("h1").expect("the queue can be read").len(), 1);
        milliseconds(start)
    };
    show("whose jobs wait, of 1,000 in the queue", (0..MESSAGES / 10).map(ask).collect());
    let overtake = |lot: usize| {
        submitter.store(&names::job("h1", "other", &lot.to_string()), &body).expect("a job can be published");
        let start = Instant::now();
        let delivery = agent.next_job_of("h1", "other").expect("the queue can be read").expect("its job is there");
        let time = milliseconds(start);
        agent.settle(&delivery, Settle::Done).expect("a job can be ended");
        time
    };
    show("a job behind 1,000 of another submission, delivered", (0..MESSAGES / 10).map(overtake).collect());
    let deliver = |_: usize| {
        let start = Instant::now();
        let delivery = agent.next_job("h1", WAIT).expect("the queue can be read").expect("there are jobs");
        let time = milliseconds(start);
        agent.settle(&delivery, Settle::Done).expect("a job can be ended");
        time
    };
    show("a job asked for and delivered", (0..MESSAGES).map(deliver).collect());
    let store = |cell: usize| {
        let start = Instant::now();
        agent.store(&names::outcome("bench", "h1", &format!("{cell:016x}")), &body).expect("an outcome can be stored");
        milliseconds(start)
    };
    show("an outcome stored", (0..MESSAGES).map(store).collect());
    show("from publishing to an agent that waits", dispatched(&submitter, &agent, &body));
}

/// An agent waits for each job as it is published.
fn dispatched(submitter: &NatsCourier, agent: &NatsCourier, body: &[u8]) -> Vec<f64> {
    let (sent, delivered) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for lot in 0..MESSAGES / 2 {
                // Long enough that the agent waits again.
                std::thread::sleep(Duration::from_millis(5));
                let _ = sent.send(Instant::now());
                submitter.store(&names::job("h1", "dispatch", &lot.to_string()), body).expect("a job can be published");
            }
        });
        let mut taken = vec![];
        while taken.len() < MESSAGES / 2 {
            let delivery = agent.next_job("h1", WAIT).expect("the queue can be read").expect("jobs come");
            taken.push(milliseconds(delivered.recv().expect("it was published")));
            agent.settle(&delivery, Settle::Done).expect("a job can be ended");
        }
        taken
    })
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn connected(world: &World, pass: &str) -> NatsCourier {
    let pass = Pass::read(&world.path().join(pass)).expect("it is a pass");
    let began = Instant::now();
    loop {
        match NatsCourier::connect(&pass) {
            Ok(courier) => return courier,
            Err(error) if began.elapsed() > Duration::from_secs(30) => panic!("no server: {error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}
