//! What is known of a workload before it is measured, and what was measured of one.

use serde::{Deserialize, Serialize};

/// One inference, as its graph tells it. All of it is known of a model that never ran on the hardware in question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    pub model: String,
    pub family: String,
    pub batch: f64,
    /// Operations of one inference of the whole batch.
    pub flops: f64,
    /// Bytes of the weights that every inference reads.
    pub weight_bytes: f64,
    /// Bytes that its operators read and write besides.
    pub activation_bytes: f64,
    /// Operators that compute.
    pub kernels: f64,
    /// Bytes of all weights, tables included.
    pub parameter_bytes: f64,
}

/// A workload and what was measured of it: milliseconds, items in a second, or mebibytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub work: Work,
    pub value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Median wall time of one inference, in milliseconds.
    Latency,
    /// Items in a second.
    Throughput,
    /// The highest resident set, in mebibytes.
    Memory,
}

impl Quantity {
    pub const ALL: [Quantity; 3] = [Quantity::Latency, Quantity::Throughput, Quantity::Memory];

    pub fn name(self) -> &'static str {
        match self {
            Quantity::Latency => "latency",
            Quantity::Throughput => "throughput",
            Quantity::Memory => "memory",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Latency => "ms",
            Quantity::Throughput => "1/s",
            Quantity::Memory => "MiB",
        }
    }

    /// Memory is a sum of what lies there; the time of an inference has more to it than its roofline.
    pub(crate) fn has_residual(self) -> bool {
        self != Quantity::Memory
    }

    /// What the law tells, out of a figure: of a throughput the milliseconds of one inference. And back, which is the same.
    pub(crate) fn turned(self, value: f64, work: &Work) -> f64 {
        match self {
            Quantity::Latency | Quantity::Memory => value,
            Quantity::Throughput => work.batch * 1e3 / value,
        }
    }

    /// The terms of the law, each with a factor of its own.
    pub(crate) fn terms(self, work: &Work, peaks: &Peaks) -> Vec<f64> {
        let bytes = work.weight_bytes + work.activation_bytes;
        match self {
            Quantity::Latency | Quantity::Throughput => vec![
                1e3 * work.flops / peaks.flops_per_s.unwrap_or(1e9),
                1e3 * bytes / peaks.bytes_per_s.unwrap_or(1e9),
                work.kernels,
                1.0,
            ],
            Quantity::Memory => vec![work.parameter_bytes / MIB, work.activation_bytes / MIB, 1.0],
        }
    }

    /// Where the logarithm of a factor is known to begin: at a peak that was measured.
    pub(crate) fn known(self, peaks: &Peaks) -> Vec<Option<f64>> {
        match self {
            Quantity::Latency | Quantity::Throughput => {
                vec![peaks.flops_per_s.map(|_| 0.0), peaks.bytes_per_s.map(|_| 0.0), None, None]
            }
            // Weights lie in memory at least once.
            Quantity::Memory => vec![Some(0.0), None, None],
        }
    }
}

const MIB: f64 = 1_048_576.0;

/// The most that the hardware was seen to do; `None`: nobody measured it, and it is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peaks {
    pub flops_per_s: Option<f64>,
    pub bytes_per_s: Option<f64>,
}

/// What the fitted law says of the hardware: rates, and milliseconds of overhead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    pub flops_per_s: f64,
    pub bytes_per_s: f64,
    pub kernel_ms: f64,
    pub inference_ms: f64,
}

impl Sample {
    /// Whether it can be fitted: figures that are no figures teach nothing.
    pub(crate) fn is_usable(&self) -> bool {
        let work = &self.work;
        let all = [self.value, work.batch, work.flops, work.activation_bytes, work.kernels, work.parameter_bytes];
        all.into_iter().all(|of| of.is_finite() && of > 0.0)
            && work.weight_bytes.is_finite()
            && work.weight_bytes >= 0.0
    }
}

impl Efficiency {
    pub(crate) fn of(factors: &[f64], peaks: &Peaks) -> Option<Efficiency> {
        let [flops, bytes, kernel, inference] = factors else { return None };
        Some(Efficiency {
            flops_per_s: peaks.flops_per_s.unwrap_or(1e9) / flops,
            bytes_per_s: peaks.bytes_per_s.unwrap_or(1e9) / bytes,
            kernel_ms: *kernel,
            inference_ms: *inference,
        })
    }
}
