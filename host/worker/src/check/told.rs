//! Rules about what a backend tells of its devices and its operators: each says nothing about one that tells nothing.

use super::backend::{ensure, floats, for_batch, input, open, run_on, text};
use super::{Finding, Test};
use crate::child::Services;
use crate::{CheckJob, JOINED_BY};
use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::{Code, Device, Direction, Load, Why};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ROWS: usize = 2;
/// How often a sensor is read, and how far apart.
const READINGS: usize = 5;
const APART: Duration = Duration::from_millis(20);
/// How often sensors are read while a run is under way, and how many runs there are at least; but for no longer than this.
const MEANWHILE: usize = 50;
const PATIENCE: Duration = Duration::from_secs(5);
/// How many runs are recorded.
const RUNS: usize = 5;

pub(super) fn memory(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut tells = false;
    for (index, device) in opened.devices.iter().enumerate() {
        let memory = match opened.instance.memory(index as u32) {
            Err(error) if error.code == Code::Unimplemented => continue,
            memory => memory.map_err(text)?,
        };
        tells = true;
        let id = &device.id;
        ensure(memory.total != Some(0), format!("device '{id}' has 0 bytes of memory; unknown is SB_UNKNOWN"))?;
        let within = |less: Option<u64>, more: Option<u64>| less.zip(more).is_none_or(|(less, more)| less <= more);
        ensure(within(memory.used, memory.total), format!("device '{id}' uses more memory than it has"))?;
        ensure(within(memory.used, memory.peak), format!("device '{id}' uses more memory than it ever did"))?;
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

pub(super) fn energy(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut tells = false;
    for index in 0..opened.devices.len() as u32 {
        let mut last = None;
        for _ in 0..READINGS {
            let Some(energy) = opened.instance.energy(index).map_err(text)? else { break };
            tells = true;
            ensure(!energy.source.is_empty(), "an energy counter does not say where it comes from")?;
            let grows = last.is_none_or(|last| energy.microjoules >= last);
            ensure(grows, format!("the energy counter {} goes back", energy.source))?;
            last = Some(energy.microjoules);
            std::thread::sleep(APART);
        }
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

pub(super) fn counters(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut tells = false;
    for index in 0..opened.devices.len() as u32 {
        let names = || {
            let read = opened.instance.counters(index).map_err(text)?;
            Ok::<Vec<String>, Finding>(read.into_iter().map(|counter| counter.name).collect())
        };
        let first = names()?;
        tells |= !first.is_empty();
        let unique: HashSet<&String> = first.iter().collect();
        ensure(unique.len() == first.len(), format!("two counters have the same name, of {}", first.join(", ")))?;
        ensure(!first.iter().any(String::is_empty), "a counter has no name")?;
        for _ in 1..READINGS {
            std::thread::sleep(APART);
            let again = names()?;
            ensure(again == first, format!("counters are {}, and then {}", first.join(", "), again.join(", ")))?;
        }
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

/// As a benchmark whose rounds are long has them read: by a thread of their own.
pub(super) fn sensors_meanwhile(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let devices = 0..opened.devices.len() as u32;
    let read = |index: u32| -> Result<Option<u64>, String> {
        opened.instance.counters(index).map_err(text)?;
        Ok(opened.instance.energy(index).map_err(text)?.map(|energy| energy.microjoules))
    };
    let mut tells = false;
    for index in devices.clone() {
        tells |= read(index)?.is_some() || !opened.instance.counters(index).map_err(text)?.is_empty();
    }
    if !tells {
        return Err(Finding::NotOffered);
    }
    let model = opened.instance.load(&for_batch(&job.probe, ROWS as i64)).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let want = floats(&run_on(&mut request, ROWS, 0)?);
    let (over, under_way, readings) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    let reader = || -> Test {
        let mut last = vec![None; devices.len()];
        while !over.load(Ordering::SeqCst) {
            let began_within = under_way.load(Ordering::SeqCst);
            for index in devices.clone() {
                let energy = read(index).map_err(|why| format!("while runs are under way: {why}"))?;
                let before = std::mem::replace(&mut last[index as usize], energy);
                ensure(energy >= before, "while runs are under way the energy counter goes back, or is gone")?;
            }
            let is_within = began_within && under_way.load(Ordering::SeqCst);
            readings.fetch_add(usize::from(is_within), Ordering::SeqCst);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let reader = scope.spawn(reader);
        // However the runs end, so does the reader.
        let _ended = Ended(&over);
        let began = Instant::now();
        let mut runs = 0;
        let goes_on = |runs: usize| {
            let enough = runs >= MEANWHILE && readings.load(Ordering::SeqCst) >= MEANWHILE;
            !enough && !reader.is_finished() && began.elapsed() < PATIENCE
        };
        let ran = loop {
            if !goes_on(runs) {
                break Ok(());
            }
            runs += 1;
            under_way.store(true, Ordering::SeqCst);
            let have = run_on(&mut request, ROWS, 0);
            under_way.store(false, Ordering::SeqCst);
            match have {
                Ok(have) if floats(&have) == want => {}
                Ok(_) => break Err("while its sensors are read, a run gives other outputs".into()),
                Err(why) => break Err(why.into()),
            }
        };
        over.store(true, Ordering::SeqCst);
        let read = reader.join().unwrap_or_else(|_| Err("a thread panicked".into()));
        ran.and(read).and_then(|()| match readings.load(Ordering::SeqCst) {
            0 => Err(Finding::Unavailable("no reading fell into a run, so that nothing was seen of it".into())),
            _ => Ok(()),
        })
    })
}

/// Says so when it is dropped.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(super) fn operators(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    if !opened.instance.profiles() {
        return Err(Finding::NotOffered);
    }
    let load = Load { profile: true, ..for_batch(&job.probe, ROWS as i64) };
    let model = match opened.instance.load(&load) {
        Err(error) if error.code == Code::Unimplemented => return Err(Finding::NotOffered),
        model => model.map_err(text)?,
    };
    let recording =
        opened.instance.recording(&model).ok_or("a model that was loaded to be profiled records nothing")?;
    let mut request = model.request().map_err(text)?;
    request.bind(Direction::Input, 0, Arc::new(input(ROWS, 0)?)).map_err(text)?;
    request.run().map_err(text)?;
    recording.begin().map_err(text)?;
    let began = Instant::now();
    for _ in 0..RUNS {
        request.run().map_err(text)?;
    }
    let took = began.elapsed().as_nanos() as u64;
    let told = recording.end().map_err(text)?;
    ensure(!told.is_empty(), "no operator is told of the runs that were recorded")?;
    ensure(told.iter().all(|operator| !operator.kind.is_empty()), "an operator does not say what it is")?;
    let beyond = told.iter().filter_map(|operator| operator.run).find(|run| *run >= RUNS as u64);
    ensure(beyond.is_none(), format!("an operator of run {} is told, and there were {RUNS}", beyond.unwrap_or(0)))?;
    // A mean over all runs of the model counts runs before the recording, too.
    let of_runs = told.iter().filter(|operator| operator.run.is_some());
    let longest = of_runs.map(|operator| operator.duration_ns).max().unwrap_or(0);
    ensure(longest <= took, format!("an operator took {longest} ns, and all runs together {took}"))
}

pub(super) fn several_devices(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let usable = |(index, device): (usize, &Device)| (device.why == Why::NONE).then_some(index as u32);
    let indices: Vec<u32> = opened.devices.iter().enumerate().filter_map(usable).take(2).collect();
    let [first, second] = indices[..] else { return Err(Finding::NotOffered) };
    let onto = |devices: &[u32]| {
        let load = Load { devices: devices.to_vec(), ..for_batch(&job.probe, ROWS as i64) };
        opened.instance.load(&load)
    };
    let model = match onto(&[second, first]) {
        Err(error) if error.code == Code::Unimplemented => {
            return ensure(!error.message.trim().is_empty(), "several devices are refused without a message");
        }
        model => model.map_err(text)?,
    };
    let id = |index: u32| opened.devices[index as usize].id.as_str();
    let (asked, told) = (format!("{}{JOINED_BY}{}", id(second), id(first)), model.placement().map_err(text)?.device);
    ensure(told == asked, format!("loaded onto '{asked}', a model tells that it is on '{told}'"))?;
    let alone = onto(&[first]).map_err(text)?;
    // As many requests as would go round the devices more than once.
    let mut requests = (0..5).map(|_| model.request().map_err(text)).collect::<Result<Vec<_>, _>>()?;
    for (variant, request) in requests.iter_mut().enumerate() {
        let outputs = |request: &mut Request<'_>| -> Result<Vec<f32>, Finding> {
            request.bind(Direction::Input, 0, Arc::new(input(ROWS, variant as u64)?)).map_err(text)?;
            request.run().map_err(text)?;
            Ok(floats(&request.take_output(0).map_err(text)?))
        };
        let (have, want) = (outputs(request)?, outputs(&mut alone.request().map_err(text)?)?);
        // Devices of different makes round differently.
        let near = have.iter().zip(&want).all(|(have, want)| (have - want).abs() <= 1e-2 * (1.0 + want.abs()));
        ensure(have.len() == want.len() && near, "on several devices a model gives other outputs than on one")?;
    }
    ensure(onto(&[first, first]).is_err(), "a device that is named twice is not refused")?;
    ensure(onto(&[first, opened.devices.len() as u32 + 7]).is_err(), "a second device that is not there is ignored")
}
