//! Sensors of a device while a round is under way, of benchmarks whose rounds are long: between rounds alone a clock that falls would be seen too late.

use super::energy::power;
use super::rounds::Rounds;
use super::sensors::Sensors;
use crate::OverTime;
use crate::over_time::{EVERY, LONG, read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;

/// Reads them now and then until the guard is dropped.
pub(super) struct During<'scope> {
    over: &'scope AtomicBool,
    thread: Option<std::thread::ScopedJoinHandle<'scope, Vec<OverTime>>>,
}

impl<'scope> During<'scope> {
    /// Nothing is started where there is no sensor.
    pub fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        rounds: &'scope Rounds<'_>,
        sensors: &'scope Sensors<'_>,
        over: &'scope AtomicBool,
    ) -> During<'scope> {
        let thread = sensors.has_some().then(|| {
            let named = std::thread::Builder::new().name("sensors".into());
            named.spawn_scoped(scope, move || follow(rounds, sensors, over))
        });
        During { over, thread: thread.and_then(Result::ok) }
    }

    /// What was read.
    pub fn end(mut self) -> Vec<OverTime> {
        self.stop();
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }

    fn stop(&self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for During<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

fn follow(rounds: &Rounds<'_>, sensors: &Sensors<'_>, over: &AtomicBool) -> Vec<OverTime> {
    let (mut all, mut last) = (vec![], None);
    while !over.load(Ordering::SeqCst) {
        std::thread::park_timeout(EVERY);
        let Some((round, at)) = rounds.under_way().filter(|(round, _)| round.lasted >= LONG) else { continue };
        let counters = sensors.counters();
        let reading = sensors.energy().map(|(first, _)| first);
        // Of a round that ended meanwhile nobody knows what was still in it.
        if rounds.under_way().is_none_or(|(still, _)| still.id != round.id) {
            continue;
        }
        for (name, unit, value) in counters {
            read(&mut all, at, &format!("device.{name}"), &unit, value);
        }
        let Some(reading) = reading else { continue };
        if let Some((of, before)) = &last
            && *of == round.id
            && let Some(watts) = power(before, &reading)
        {
            read(&mut all, at, "power", "W", watts);
        }
        last = Some((round.id, reading));
    }
    all
}
