//! The plots there are.

use std::fmt;
use std::str::FromStr;

macro_rules! kinds {
    ($(#[doc = $meaning:literal] $kind:ident = $name:literal),+ $(,)?) => {
        /// A plot of the catalogue. Its name is what the command line calls it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PlotKind {
            $(#[doc = $meaning] $kind),+
        }

        impl PlotKind {
            /// All of them, in the order in which they are offered.
            pub const ALL: &'static [PlotKind] = &[$(PlotKind::$kind),+];

            /// What it shows, in words.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(PlotKind::$kind => $meaning),+
                }
            }

            pub fn name(self) -> &'static str {
                match self {
                    $(PlotKind::$kind => $name),+
                }
            }
        }
    };
}

kinds! {
    /// Latency against batch, a chart for each model.
    Latency = "latency",
    /// Throughput against batch.
    Throughput = "throughput",
    /// Peak memory against batch.
    Memory = "memory",
    /// Hardware side by side on each model.
    HardwareComparison = "hardware-comparison",
    /// Hardware side by side on each architecture, against the CPU.
    ArchitectureComparison = "architecture-comparison",
    /// Models within a family.
    Family = "family",
    /// Throughput against that at the smallest batch.
    BatchScaling = "batch-scaling",
    /// Latency against the sequence length.
    SequenceScaling = "sequence-scaling",
    /// Latency of requests against the rate at which they come.
    Load = "load",
    /// Requests over the time in which they came: their latency, and how many came.
    Timeline = "timeline",
    /// Largest rate of requests that keeps a limit.
    Capacity = "capacity",
    /// Speed against the CPU, by hardware and by model.
    Speedup = "speedup",
    /// Peak memory of each model by hardware.
    MemoryByHardware = "memory-by-hardware",
    /// Architectures by hardware.
    HeatMap = "heat-map",
    /// Models by hardware.
    ModelHeatMap = "model-heat-map",
    /// Hardware side by side on each category, against the CPU.
    CategoryComparison = "category-comparison",
    /// Share of the measured peak.
    Efficiency = "efficiency",
    /// Peak memory against parameters.
    MemoryScaling = "memory-scaling",
    /// What to change, with the evidence.
    Opportunities = "opportunities",
    /// Two sets of results side by side.
    BeforeAfter = "before-after",
    /// From nothing to the first result.
    InitPhases = "init-phases",
    /// Figures over time.
    Trend = "trend",
    /// How samples are spread.
    Distribution = "distribution",
}

impl fmt::Display for PlotKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no plot of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no plot {0:?}; there are {all}", all = PlotKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownPlot(pub String);

impl FromStr for PlotKind {
    type Err = UnknownPlot;

    fn from_str(name: &str) -> Result<PlotKind, UnknownPlot> {
        PlotKind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| UnknownPlot(name.into()))
    }
}
