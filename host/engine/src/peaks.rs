//! Measured peaks of devices, kept under the user's data; and which share of them a cell reached.
//!
//! A benchmark that measures peaks reports them as series without rounds, named `peak.` and what they are of: a precision, or
//! `bandwidth`. Every later cell of the same device, with as many threads, is held against them.

use serde::{Deserialize, Serialize};
use skillbench_models::{SkillDescription, stored};
use skillbench_record::paths;
use skillbench_record::scratch::write_whole;
use skillbench_record::{Cell, EfficiencyMetrics, Metrics, Verification};
use std::path::{Path, PathBuf};

/// The most that a device was seen to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    pub plugin: String,
    pub device: String,
    /// The device's name: another machine's may have the same id.
    pub name: String,
    pub threads: Option<u64>,
    /// "float32", "float16", "int8", ... or "bandwidth".
    pub of: String,
    /// "FLOP/s", "OP/s" or "B/s".
    pub unit: String,
    pub value: f64,
    pub measured_at: String,
    pub run_id: String,
}

/// All peaks that were measured on this machine.
#[derive(Debug, Default)]
pub struct Peaks {
    file: PathBuf,
    known: Vec<Peak>,
}

const PREFIX: &str = "peak.";
const BANDWIDTH: &str = "bandwidth";

impl Peaks {
    /// Those of the user's data; none where there are none yet, or they cannot be read.
    pub fn load() -> Peaks {
        Peaks::read(&paths::data().join("peaks.json"))
    }

    /// A file that is broken is set aside, not written over.
    fn read(file: &Path) -> Peaks {
        let text = std::fs::read(file).ok();
        let known = text.as_ref().map(|text| serde_json::from_slice(text));
        if let Some(Err(_)) = known {
            let _ = std::fs::rename(file, file.with_extension("broken.json"));
        }
        Peaks { file: file.into(), known: known.and_then(Result::ok).unwrap_or_default() }
    }

    /// Takes the peaks out of a cell that measured some on outputs that were held against a reference, and whose figures can be; the
    /// newest counts. Says whether there were any.
    ///
    /// # Errors
    /// They cannot be kept.
    pub fn learn(&mut self, cell: &Cell, device_name: &str, run_id: &str, now: &str) -> std::io::Result<bool> {
        let Some(metrics) = cell.outcome.metrics() else { return Ok(false) };
        let mut learnt = vec![];
        for (name, series) in &metrics.series {
            let Some(of) = name.strip_prefix(PREFIX).filter(|_| series.kind == "rate") else { continue };
            let peak = Peak {
                plugin: cell.plugin.clone(),
                device: cell.device.clone(),
                name: device_name.into(),
                threads: cell.threads,
                of: of.into(),
                unit: series.unit.clone(),
                value: series.stats.max,
                measured_at: now.into(),
                run_id: run_id.into(),
            };
            learnt.push(peak);
        }
        let is_checked = matches!(cell.verification, Some(Verification::Passed { .. })) && cell.implausible.is_empty();
        if !learnt.is_empty() && is_checked {
            // Another run may have kept some since this one began.
            self.known = Peaks::read(&self.file).known;
            for peak in &learnt {
                let same = |known: &Peak| is_of(known, cell, device_name) && known.of == peak.of;
                // On a busy machine a device reaches less than it can.
                let busy = cell.conditions.as_ref().and_then(|seen| seen.other_cores).is_some_and(|cores| cores > BUSY);
                let higher = self.known.iter().any(|known| same(known) && known.value > peak.value);
                if !(busy && higher) {
                    self.known.retain(|known| !same(known));
                    self.known.push(peak.clone());
                }
            }
            let known = &self.known;
            write_whole(&self.file, |out| Ok::<_, std::io::Error>(serde_json::to_writer_pretty(out, known)?))?;
        }
        Ok(!learnt.is_empty())
    }

    /// What a cell achieved, and which share of its device's peaks that is. `None` where neither is known, and of requests that arrive,
    /// whose latencies are waits too.
    pub fn efficiency(
        &self,
        cell: &Cell,
        metrics: &Metrics,
        skill: &SkillDescription,
        device_name: &str,
    ) -> Option<EfficiencyMetrics> {
        let seconds = metrics.latency_ms.as_ref().filter(|_| metrics.serving.is_none())?.median / 1e3;
        let precision = cell.placement.as_ref()?.precision.as_deref().unwrap_or("");
        let peak = |of: &str| self.known.iter().find(|peak| is_of(peak, cell, device_name) && peak.of == of);
        let (arithmetic, bandwidth) = (peak(stored::arithmetic(precision)), peak(BANDWIDTH));
        let flops = skill.flops(&cell.axes).map(|flops| flops / seconds);
        let bytes = skill.weight_bytes(precision).map(|bytes| bytes as f64 / seconds);
        let share = |achieved: Option<f64>, peak: Option<&Peak>| Some(achieved? / peak?.value);
        (flops.is_some() || bytes.is_some()).then(|| EfficiencyMetrics {
            flops_per_s: flops,
            share_of_peak_flops: share(flops, arithmetic),
            weight_bytes_per_s: bytes,
            share_of_peak_bandwidth: share(bytes, bandwidth),
            peaks_run: arithmetic.or(bandwidth).map(|peak| peak.run_id.clone()),
        })
    }
}

/// Other programs that keep more cores busy than this spoil a peak.
const BUSY: f64 = 0.25;
/// Counted operations may be so many times those that are done: Winograd's convolution and the like need fewer.
const FEWER_OPERATIONS: f64 = 2.5;

/// Why what a cell achieved cannot be; `None`: it can, or nobody measured a peak.
pub fn beyond(achieved: &EfficiencyMetrics) -> Option<String> {
    let flops = achieved.share_of_peak_flops.filter(|share| *share > FEWER_OPERATIONS)?;
    Some(format!("its counted operations are {flops:.1} times the peak that was measured of the device"))
}

/// Whether a peak is of the device that a cell ran on, under the same conditions.
fn is_of(peak: &Peak, cell: &Cell, device_name: &str) -> bool {
    peak.plugin == cell.plugin && peak.device == cell.device && peak.name == device_name && peak.threads == cell.threads
}
