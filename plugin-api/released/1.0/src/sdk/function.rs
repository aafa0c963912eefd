//! A plain function as a benchmark: what its name and its list entry say, and how it is measured.

use super::metrics::{Figure, Metrics};
use super::{Benchmark, Context, Reporter, Series};
use crate::{Error, Result, RoundKind, SeriesInfo};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::time::Instant;

/// What [`export_plugin!`](crate::export_plugin) makes of a function in its list.
pub trait Function: 'static {
    const DETAILS: FunctionDetails;

    /// # Errors
    /// The function's own.
    fn call() -> Result<Metrics>;
}

/// What is known of a benchmark function; the keys in `{ .. }` behind its name are the methods here.
#[derive(Clone, Copy)]
pub struct FunctionDetails {
    id: &'static CStr,
    version: &'static CStr,
    category: &'static CStr,
    summary: &'static CStr,
    model: Option<&'static CStr>,
}

/// Text of the macro, which ends with NUL.
const fn c_text(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a text of the list of benchmark functions has a NUL inside"),
    }
}

const fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let mut at = 0;
    while at < start.len() {
        if at >= text.len() || text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && starts_with(one, other)
}

/// The last name of a path: `run_sort` of `sorting::run_sort`.
const fn last_name(path: &'static str) -> &'static str {
    let (mut at, mut start) = (0, 0);
    while at < path.len() {
        if path.as_bytes()[at] == b':' || path.as_bytes()[at] == b' ' {
            start = at + 1;
        }
        at += 1;
    }
    path.split_at(start).1
}

/// Whether a function may be a benchmark by its name.
pub const fn is_function_name(path: &'static str) -> bool {
    let name = last_name(path).as_bytes();
    starts_with(name, b"run_") || starts_with(name, b"benchmark_")
}

impl FunctionDetails {
    /// `path` is the function as it stands in the list, `version` that of the plugin; both end with NUL.
    pub const fn new(path: &'static str, version: &'static str) -> FunctionDetails {
        let id = c_text(last_name(path));
        FunctionDetails { id, version: c_text(version), category: c"", summary: c"", model: None }
    }

    /// "unit", "integration" or "performance". Without it, a host takes the category from the library's folder.
    pub const fn category(mut self, text: &'static str) -> FunctionDetails {
        let known = equal(text.as_bytes(), b"unit\0")
            || equal(text.as_bytes(), b"integration\0")
            || equal(text.as_bytes(), b"performance\0");
        assert!(known, "the category of a benchmark function is \"unit\", \"integration\" or \"performance\"");
        self.category = c_text(text);
        self
    }

    /// Results of one version are never compared with those of another. Without it, the version of the plugin.
    pub const fn version(mut self, text: &'static str) -> FunctionDetails {
        assert!(text.len() > 1, "the version of a benchmark function is not empty");
        self.version = c_text(text);
        self
    }

    /// The model that the function is about, so that `host bench run --model` finds it.
    pub const fn model(mut self, text: &'static str) -> FunctionDetails {
        assert!(text.len() > 1, "the model of a benchmark function is not empty; leave it out where there is none");
        self.model = Some(c_text(text));
        self
    }

    /// One sentence for lists.
    pub const fn summary(mut self, text: &'static str) -> FunctionDetails {
        self.summary = c_text(text);
        self
    }
}

/// A function, as the benchmark that it is.
pub struct FunctionBenchmark<F>(PhantomData<F>);

impl<F: Function> Benchmark for FunctionBenchmark<F> {
    const ID: &'static CStr = F::DETAILS.id;
    const VERSION: &'static CStr = F::DETAILS.version;
    const CATEGORY: &'static CStr = F::DETAILS.category;
    const SUMMARY: &'static CStr = F::DETAILS.summary;
    const OPTIONS_SCHEMA: &'static CStr = c"";
    const NEEDS_TARGET: bool = false;
    const SKILL: Option<&'static CStr> = F::DETAILS.model;

    fn run(context: &Context<'_>) -> Result<()> {
        measure(&context.reporter, F::call)
    }
}

/// Calls a function once, and then as often as the host asks. Each call is timed here, whatever the function says of itself.
fn measure(reporter: &Reporter, call: impl Fn() -> Result<Metrics>) -> Result<()> {
    // Only the first call can be cold, so it is a figure of its own. It also tells how many items a call has.
    let start = Instant::now();
    let metrics = call();
    let first_ns = start.elapsed().as_nanos() as f64;
    let metrics = metrics?;
    let items = metrics.item_count();
    if items == 0 {
        return Err(Error::invalid(
            "the function worked on no items; leave `Metrics::items` out where nothing is counted",
        ));
    }
    metrics.figures()?;
    let first = reporter.series(&SeriesInfo::duration("first_execution", items as f64))?;
    reporter.single(first, first_ns)?;

    let execution = reporter.series(&SeriesInfo::duration("execution_time", items as f64))?;
    let (mut own, mut times) = (Own::default(), Vec::new());
    while let Some(round) = reporter.next_round(execution) {
        for _ in 0..round.settle {
            drop(call()?);
        }
        times.clear();
        for _ in 0..round.iterations {
            let start = Instant::now();
            let metrics = call();
            times.push(start.elapsed().as_nanos() as f64);
            let metrics = metrics?;
            if metrics.item_count() != items {
                return Err(Error::invalid(format!(
                    "the function worked on {} items, and on {items} before: a throughput needs the same number in each call",
                    metrics.item_count()
                )));
            }
            if round.kind == RoundKind::Measured {
                own.take(&metrics)?;
            }
        }
        reporter.samples(execution, &round, &times)?;
        own.hand_over(reporter)?;
    }
    Ok(())
}

/// What the function returned in the measured round that runs now.
#[derive(Default)]
struct Own(Vec<OwnSeries>);

struct OwnSeries {
    info: SeriesInfo,
    handle: Option<Series>,
    values: Vec<f64>,
}

impl Own {
    fn take(&mut self, metrics: &Metrics) -> Result<()> {
        for figure in metrics.figures()? {
            match self.0.iter_mut().find(|known| known.info.name == figure.name) {
                Some(known) => known.take(figure)?,
                None => {
                    let values = vec![figure.value];
                    self.0.push(OwnSeries { info: figure.series(), handle: None, values });
                }
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, reporter: &Reporter) -> Result<()> {
        for series in self.0.iter_mut().filter(|series| !series.values.is_empty()) {
            let handle = match series.handle {
                Some(handle) => handle,
                None => *series.handle.insert(reporter.series(&series.info)?),
            };
            reporter.singles(handle, &series.values)?;
            series.values.clear();
        }
        Ok(())
    }
}

impl OwnSeries {
    fn take(&mut self, figure: &Figure) -> Result<()> {
        if self.info.unit != figure.unit || self.info.kind != figure.kind {
            return Err(Error::invalid(format!(
                "the figure '{}' was in '{}' before, and is in '{}' now",
                figure.name, self.info.unit, figure.unit
            )));
        }
        self.values.push(figure.value);
        Ok(())
    }
}
