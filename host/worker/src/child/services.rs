//! What every plugin gets from its worker: a log, a sign of life, a clock, and whether to stop.

use crate::{Event, Failure, Stage, monotonic_ns, write_frame};
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

pub(crate) struct Services {
    channel: Mutex<Box<dyn Write + Send>>,
    epoch: Instant,
    table: OnceLock<&'static HostTable>,
}

impl Services {
    /// The services of this process; they live as long as it does.
    pub(crate) fn leak(channel: impl Write + Send + 'static) -> &'static Services {
        let services =
            Services { channel: Mutex::new(Box::new(channel)), epoch: Instant::now(), table: OnceLock::new() };
        Box::leak(Box::new(services))
    }

    /// The services as plugins get them.
    pub(crate) fn table(&'static self) -> &'static HostTable {
        self.table.get_or_init(|| HostTable::leak(self))
    }

    /// Tells the host. A host that is gone ends this process soon; until then there is nobody to tell.
    pub(crate) fn send(&self, event: &Event) {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Event::Stage(_) | Event::Measuring(_) | Event::WarmingUp(_), Some(ns)) = (event, monotonic_ns()) {
            let _ = write_frame(&mut *channel, &Event::At { ns });
        }
        if let Err(error) = write_frame(&mut *channel, event) {
            // Too long a message is told as that; a channel that is closed takes neither.
            let _ = write_frame(&mut *channel, &Event::Failed(Failure::failed("too-large", error.to_string())));
        }
    }

    pub(crate) fn enter(&self, stage: Stage) {
        self.send(&Event::Stage(stage));
    }
}

impl HostServices for Services {
    fn log(&self, level: i32, target: &str, message: &str) {
        self.send(&Event::Log { level, message: format!("{target}: {message}") });
    }

    fn phase(&self, name: &str, fraction: f64) {
        let fraction = fraction.is_finite().then_some(fraction);
        self.send(&Event::Phase { name: name.into(), fraction });
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    fn evidence(&self, what: &str, found: &str) {
        self.send(&Event::Evidence { what: what.into(), found: found.into() });
    }

    /// The host ends a worker from outside; nothing has to be asked.
    fn stopping(&self) -> bool {
        false
    }
}
