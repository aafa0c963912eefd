//! Rules about what a plugin does beside its work: to the process that it shares with others, and what it leaves behind.
//!
//! Engines keep pools and caches for their next user, and that is fair: nothing here asks for none, only for no more each time, and
//! for pools that wait without a processor.

use super::backend::{ensure, floats, for_batch, input, open, text};
use super::process_state::State;
use super::{Finding, Test};
use crate::CheckJob;
use crate::child::{Observing, Opened, Services, cpu};
use crate::children::all_below;
use crate::loader::{self, c_library};
use crate::output::Tail;
use crate::sys;
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Direction, Error, Load, Options, Source};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: i64 = 2;

/// What a cell does, once: opens, loads, runs, unloads and closes, with a look after each of these.
fn cycle(services: &'static Services, job: &CheckJob, look: &mut dyn FnMut(&str) -> Test) -> Test {
    let opened = open(services, job)?;
    look("open")?;
    use_once(&opened, job, look)?;
    drop(opened);
    look("close")
}

fn use_once(opened: &Opened, job: &CheckJob, look: &mut dyn FnMut(&str) -> Test) -> Test {
    let model = opened.instance.load(&for_batch(&job.probe, ROWS)).map_err(text)?;
    look("load")?;
    let mut request = model.request().map_err(text)?;
    for variant in 0..3 {
        request.bind(Direction::Input, 0, Arc::new(input(ROWS as usize, variant)?)).map_err(text)?;
        request.run().map_err(text)?;
        drop(request.take_output(0).map_err(text)?);
    }
    look("run")?;
    drop(request);
    drop(model);
    look("unload")
}

fn nothing(_: &str) -> Test {
    Ok(())
}

/// Everything that can be asked of a plugin without a model of somebody else.
fn use_all(services: &'static Services, job: &CheckJob) -> Test {
    let (plugin, _) = loader::load(&job.library).map_err(text)?;
    let skillset = services.within("factory", || plugin.skillset()).map_err(text)?;
    services.within("describe", || skillset.map(|skillset| skillset.descriptions()));
    services.within("factory", || plugin.benchmarks()).map_err(text)?;
    match services.within("factory", || plugin.backend()).map_err(text)? {
        Some(_) => cycle(services, job, &mut nothing),
        None => Ok(services.within("init", || plugin.init(services.table(), &job.library)).map_err(text)?),
    }
}

/// How long a pipe's last bytes take to be read.
const DRAINED: Duration = Duration::from_millis(100);

pub(super) fn stdout_kept(services: &'static Services, job: &CheckJob) -> Test {
    let (reads, writes) = std::io::pipe().map_err(text)?;
    let tail = Tail::default();
    drop(tail.drain(reads));
    c_library::flush_streams();
    let used = sys::with_stdout(writes, || {
        let used = use_all(services, job);
        c_library::flush_streams();
        used
    });
    let used = used.map_err(text)?;
    std::thread::sleep(DRAINED);
    let (printed, count) = tail.text();
    let start: String = printed.lines().next().unwrap_or_default().chars().take(80).collect();
    ensure(count == 0, format!("it wrote {count} bytes to stdout, which is the host's, such as '{start}'"))?;
    used
}

/// Opened and closed so often where growth is looked for, and where the first ones may still fill pools.
const ROUNDS: usize = 6;
const FIRST: usize = 2;
/// How long threads may take to end.
const ENDS: Duration = Duration::from_secs(1);

/// What `count` is after each of some rounds of use; each may take a moment to fall.
fn counted(
    services: &'static Services,
    job: &CheckJob,
    count: impl Fn() -> Option<usize>,
) -> Result<Vec<usize>, Finding> {
    let mut counts: Vec<usize> = vec![];
    for _ in 0..ROUNDS {
        cycle(services, job, &mut nothing)?;
        let closed = Instant::now();
        let unknown = || Finding::Unavailable("this system does not tell what a process has".into());
        let mut now = count().ok_or_else(unknown)?;
        while counts.last().is_some_and(|last| now > *last) && closed.elapsed() < ENDS {
            std::thread::sleep(Duration::from_millis(10));
            now = count().unwrap_or(now);
        }
        counts.push(now);
    }
    Ok(counts)
}

/// Refuses what is more by one or more for each round, of those after the first ones.
fn steady(what: &str, counts: &[usize]) -> Test {
    let (Some(early), Some(last)) = (counts.get(FIRST - 1), counts.last()) else { return Ok(()) };
    let grows = *last >= early + (ROUNDS - FIRST);
    ensure(!grows, format!("{what} grew from {early} after {FIRST} times open and close to {last} after {ROUNDS}"))
}

fn entries(folder: &str) -> Option<usize> {
    std::fs::read_dir(folder).ok().map(|entries| entries.count())
}

pub(super) fn threads_end(services: &'static Services, job: &CheckJob) -> Test {
    steady("threads", &counted(services, job, || entries("/proc/self/task"))?)
}

pub(super) fn descriptors_end(services: &'static Services, job: &CheckJob) -> Test {
    let streams = || [0, 1, 2].map(|number| std::fs::read_link(format!("/proc/self/fd/{number}")).ok());
    let before = streams();
    steady("open descriptors", &counted(services, job, || entries("/proc/self/fd"))?)?;
    ensure(streams() == before, "it closed or replaced a standard stream")
}

/// Engines spin for a moment after a run, so that the next one begins at once; OpenMP's for a fifth of a second.
const SETTLES: Duration = Duration::from_millis(600);
/// How long nothing is asked for, and the share of one processor that may go on then.
const QUIET: Duration = Duration::from_millis(500);
const SHARE: f64 = 0.1;

fn processor_time() -> Result<Duration, Finding> {
    cpu::of_process().ok_or_else(|| Finding::Unavailable("this system does not tell a process's processor time".into()))
}

fn waits_quietly(when: &str) -> Test {
    std::thread::sleep(SETTLES);
    let (before, began) = (processor_time()?, Instant::now());
    std::thread::sleep(QUIET);
    let (spent, over) = (processor_time()?.saturating_sub(before), began.elapsed());
    let told = format!(
        "{when} it took {} ms of processor time over {} ms in which nothing was asked of it",
        spent.as_millis(),
        over.as_millis()
    );
    ensure(spent.as_secs_f64() <= SHARE * over.as_secs_f64(), told)
}

pub(super) fn idle(services: &'static Services, job: &CheckJob) -> Test {
    cycle(services, job, &mut |step| match step {
        "run" => waits_quietly("open, after a run,"),
        "close" => waits_quietly("closed,"),
        _ => Ok(()),
    })
}

/// How long children may take to end.
const CHILDREN_END: Duration = Duration::from_secs(2);

/// The processes that this one has started and that still run. One that has ended and that nobody has asked for yet is none: its own
/// parent may be gone, and then it is this process's to ask.
fn living_children() -> Vec<String> {
    let one = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, rest) = stat.rsplit_once(')')?;
        let lives = !rest.trim_start().starts_with(['Z', 'X']);
        lives.then(|| name.split_once('(').map_or("", |(_, name)| name).to_string())
    };
    all_below(std::process::id()).into_iter().filter_map(one).collect()
}

pub(super) fn children_end(services: &'static Services, job: &CheckJob) -> Test {
    cycle(services, job, &mut nothing)?;
    let closed = Instant::now();
    let mut left = living_children();
    while !left.is_empty() && closed.elapsed() < CHILDREN_END {
        std::thread::sleep(Duration::from_millis(20));
        left = living_children();
    }
    let told = format!("{} processes that it started run on after close: {}", left.len(), left.join(", "));
    ensure(left.is_empty(), told)
}

pub(super) fn process_kept(services: &'static Services, job: &CheckJob) -> Test {
    let mut before = State::now();
    // Constructors of a library run before its first slot.
    let mut also = "loading and ";
    cycle(services, job, &mut |step| {
        let when = std::mem::take(&mut also);
        let now = State::now();
        if step == "open" {
            before.take_new_variables(&now);
        }
        match before.changed(&now) {
            Some(how) => Err(format!("after {when}`{step}`: {how}").into()),
            None => Ok(()),
        }
    })
}

/// So often a backend is asked for its devices.
const LOOKS: usize = 20;

pub(super) fn devices_steady(services: &'static Services, job: &CheckJob) -> Test {
    let ids = |opened: &Opened| {
        let devices = opened.instance.devices().map_err(text)?;
        Ok::<Vec<String>, Finding>(devices.into_iter().map(|device| device.id).collect())
    };
    let opened = open(services, job)?;
    let first = ids(&opened)?;
    for look in 1..LOOKS {
        let now = ids(&opened)?;
        let told = format!("at look {} it has {} devices, and at the first {}", look + 1, now.len(), first.len());
        ensure(now.len() == first.len(), told)?;
        ensure(now == first, format!("its devices are {}, and then {}", first.join(", "), now.join(", ")))?;
    }
    drop(opened);
    let again = ids(&open(services, job)?)?;
    ensure(again == first, format!("opened again its devices are {}, and were {}", again.join(", "), first.join(", ")))
}

/// Stands where bytes were that are no UTF-8.
const REPLACED: char = '\u{FFFD}';

pub(super) fn texts(services: &'static Services, job: &CheckJob) -> Test {
    let whole = |whose: &str, text: &str| ensure(!text.contains(REPLACED), format!("{whose} is not UTF-8"));
    let (plugin, _) = loader::load(&job.library).map_err(text)?;
    for (whose, told) in [
        ("its id", plugin.id()),
        ("its name", plugin.name()),
        ("its version", plugin.version()),
        ("its vendor", plugin.vendor()),
        ("its license", plugin.license()),
        ("its url", plugin.url()),
    ] {
        whole(whose, &told)?;
    }
    for skill in plugin.skillset().map_err(text)?.iter().flat_map(|skillset| skillset.descriptions()) {
        whole("the description of a skill", &skill)?;
    }
    for benchmark in plugin.benchmarks().map_err(text)? {
        whole("the id of a benchmark", &benchmark.id())?;
        whole("the summary of a benchmark", &benchmark.summary())?;
        whole("the options schema of a benchmark", &benchmark.options_schema())?;
    }
    let Some(backend) = plugin.backend().map_err(text)? else { return Ok(()) };
    whole("the id of its backend", &backend.id())?;
    whole("its options schema", &backend.options_schema())?;
    let opened = open(services, job);
    let ended = |_: &Opened| match Observing::of(services).texts().first() {
        Some(how) => Err(Finding::Broken(how.clone())),
        None => Ok(()),
    };
    let opened = match opened {
        Ok(opened) => opened,
        // Why it cannot open is a text, too.
        Err(failed) => {
            return Observing::of(services).texts().first().map_or(Err(failed), |how| Err(how.clone().into()));
        }
    };
    let missing = opened.instance.load(&Load::new(Source::onnx(&job.scratch.join("missing.onnx")))).map(drop);
    let unknown = Load { precision: Some("float7".into()), ..for_batch(&job.probe, ROWS) };
    for refused in [missing, opened.instance.load(&unknown).map(drop)] {
        refused.err().map_or(Ok(()), |error| whole("the message of an error", &error.message))?;
    }
    let model = opened.instance.load(&for_batch(&job.probe, ROWS)).map_err(text)?;
    model.placement().map_err(text)?;
    for port in model.inputs().iter().chain(model.outputs()) {
        whole("the name of a port", &port.name)?;
        port.dim_names.iter().flatten().try_for_each(|name| whole("the name of a dimension", name))?;
    }
    let _ = model.request().map_err(text)?.run();
    drop(model);
    ended(&opened)
}

pub(super) fn closes(services: &'static Services, job: &CheckJob) -> Test {
    // Nothing used; a load that failed; a run that failed; all of it twice at once, the first one closed first.
    drop(open(services, job)?);
    let opened = open(services, job)?;
    let _ = opened.instance.load(&Load::new(Source::onnx(&job.scratch.join("missing.onnx"))));
    drop(opened);
    let opened = open(services, job)?;
    let model = opened.instance.load(&for_batch(&job.probe, ROWS)).map_err(text)?;
    drop(model.request().map_err(text)?);
    let mut request = model.request().map_err(text)?;
    let _ = request.run();
    drop(request);
    drop(model);
    right_after_a_callback(&opened, job)?;
    let other = opened.instance.backend().open(services.table(), &Options(job.options.clone()));
    drop(opened);
    // An engine may be one for a whole process, and say so.
    if let Ok(other) = other {
        survives(&other, job)?;
    }
    cycle(services, job, &mut nothing)
}

/// So often a model is unloaded right after a submitted run, for so long at the most.
const CALLBACKS: u64 = 200;
const CALLING: Duration = Duration::from_secs(3);

/// Unloads models in the moment in which their last run has called back: a thread of the engine may still be on its way out of that
/// call, and must not be the one that takes the model down.
fn right_after_a_callback(opened: &Opened, job: &CheckJob) -> Test {
    if !opened.instance.backend().has("submit") {
        return Ok(());
    }
    let began = Instant::now();
    for variant in (0..CALLBACKS).take_while(|_| began.elapsed() < CALLING) {
        let model = opened.instance.load(&for_batch(&job.probe, ROWS)).map_err(text)?;
        let mut request = model.request().map_err(text)?;
        request.bind(Direction::Input, 0, Arc::new(input(ROWS as usize, variant)?)).map_err(text)?;
        match request.submit(|_| {}) {
            Err(error) if error.code == Code::Unimplemented => return Ok(()),
            submitted => submitted.map_err(text)?,
        }
        request.wait();
    }
    Ok(())
}

/// Uses an instance beside which another one was closed, and an output after its request.
fn survives(other: &Instance, job: &CheckJob) -> Test {
    let after = |error: Error| format!("after another instance was closed: {error}");
    let model = other.load(&for_batch(&job.probe, ROWS)).map_err(after)?;
    let mut request = model.request().map_err(after)?;
    request.bind(Direction::Input, 0, Arc::new(input(ROWS as usize, 0)?)).map_err(after)?;
    request.run().map_err(after)?;
    let taken = request.take_output(0).map_err(after)?;
    let before = floats(&taken);
    drop(request);
    ensure(floats(&taken) == before, "an output that was taken ends with its request")
}

/// Slots that say something and compute nothing. The host calls them around each load, and before it shows a person what there is: a
/// tenth of a second is what people take as at once.
const QUICK: [&str; 7] = ["device_count", "device", "supports", "placement", "port_count", "port", "memory"];
const AT_MOST: Duration = Duration::from_millis(100);
/// Of so many calls the quickest counts: on a busy machine any single one may have to wait.
const CALLS: usize = 5;

pub(super) fn slots_quick(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    for _ in 0..CALLS {
        let devices = opened.instance.devices().map_err(text)?;
        for device in 0..devices.len() as u32 {
            let _ = opened.instance.memory(device);
        }
        let _ = opened.instance.supports(&for_batch(&job.probe, ROWS));
        let model = opened.instance.load(&for_batch(&job.probe, ROWS)).map_err(text)?;
        model.placement().map_err(text)?;
    }
    let times = Observing::of(services).times();
    let slow = QUICK.into_iter().find_map(|slot| {
        let quickest = *times.get(slot)?.iter().min()?;
        (quickest > AT_MOST).then_some((slot, quickest))
    });
    match slow {
        Some((slot, took)) => {
            let (took, most) = (took.as_millis(), AT_MOST.as_millis());
            Err(format!("`{slot}` takes {took} ms at the least, and may take {most}: it is asked, not made to work")
                .into())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_fills_once_is_steady_and_one_more_each_time_is_not() {
        assert!(steady("threads", &[3, 5, 5, 5, 5, 6]).is_ok());
        assert!(steady("threads", &[3, 4, 5, 6, 7, 8]).is_err());
    }
}
