//! The host's services and reporter as the SDK's tables, for a plugin behind the door.

use crate::abi::{ReporterBox, Series, ServicesBox};
use crate::served::taken;
use skillbench_plugin_api::host_tables::{HostServices, HostTable, ReporterServices};
use skillbench_plugin_api::raw::SB_UNKNOWN;
use skillbench_plugin_api::{Result, Round, SeriesInfo};
use std::sync::OnceLock;

struct Kept(ServicesBox);

/// The services of this process: the first that came are kept for as long as the library, which is never unloaded.
pub(super) fn kept(services: ServicesBox) -> &'static HostTable {
    static HOST: OnceLock<&'static HostTable> = OnceLock::new();
    HOST.get_or_init(|| HostTable::leak(Box::leak(Box::new(Kept(services)))))
}

impl HostServices for Kept {
    /// Which plugin logs is known on the other side.
    fn log(&self, level: i32, _target: &str, message: &str) {
        self.0.log(level, message.into());
    }

    fn phase(&self, name: &str, fraction: f64) {
        self.0.phase(name.into(), fraction);
    }

    fn now_ns(&self) -> u64 {
        self.0.now_ns().unwrap_or(SB_UNKNOWN)
    }

    fn stopping(&self) -> bool {
        self.0.stopping()
    }

    fn evidence(&self, what: &str, found: &str) {
        self.0.evidence(what.into(), found.into());
    }
}

pub(super) struct Reporting(pub ReporterBox);

impl ReporterServices for Reporting {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        taken(self.0.series(Series::from(info)))
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        self.0.next_round(series).into_option().map(Round::from)
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        taken(self.0.samples(series, round, values.into()))
    }

    fn attach(&self, name: &str, bytes: &[u8]) {
        self.0.attach(name.into(), bytes.into());
    }
}
