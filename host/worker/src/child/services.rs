//! What every plugin gets from its worker: a log, a sign of life, a clock, and whether to stop.

use crate::{Event, Failure, Stage, monotonic_ns, write_frame};
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Error};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

pub(crate) struct Services {
    channel: Mutex<Box<dyn Write + Send>>,
    epoch: Instant,
    table: OnceLock<&'static HostTable>,
    stopping: AtomicBool,
}

impl Services {
    /// The services of this process; they live as long as it does.
    pub(crate) fn leak(channel: impl Write + Send + 'static) -> &'static Services {
        let (channel, epoch) = (Mutex::new(Box::new(channel) as _), Instant::now());
        Box::leak(Box::new(Services { channel, epoch, table: OnceLock::new(), stopping: AtomicBool::new(false) }))
    }

    /// The host asked to stop: plugins that look are told, nothing more is run, and after a moment the host ends this process.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// # Errors
    /// `Cancelled` once the host asked to stop.
    pub(crate) fn go_on(&self) -> skillbench_plugin_api::Result<()> {
        match self.stopping() {
            true => Err(Error::new(Code::Cancelled, "the run is being stopped")),
            false => Ok(()),
        }
    }

    /// When the clock that plugins ask began.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
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

    /// Calls a slot, and lets the host know while it is under way.
    pub(crate) fn within<R>(&self, slot: &str, call: impl FnOnce() -> R) -> R {
        self.send(&Event::Slot(Some(slot.into())));
        let returned = call();
        self.send(&Event::Slot(None));
        returned
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

    fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}
