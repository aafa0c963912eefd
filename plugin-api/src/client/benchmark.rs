//! A benchmark's table.

use crate::error::checked;
use crate::host_tables::{HostTable, ReporterTable, TargetTable};
use crate::raw::*;
use crate::sdk::{Benchmark, benchmark_table};
use crate::{Error, Options, Result, abi_size, text};

#[derive(Clone, Copy)]
pub struct BenchmarkRef(sb_benchmark);

impl BenchmarkRef {
    /// # Safety
    /// `table` is null or a benchmark's static table.
    pub(super) unsafe fn new(table: *const sb_benchmark) -> Result<BenchmarkRef> {
        // SAFETY: the caller promises it.
        let raw = unsafe { abi_size::read(table) }.ok_or_else(|| Error::invalid("a benchmark's table is null"))?;
        match raw.run.is_some() {
            true => Ok(BenchmarkRef(raw)),
            false => Err(Error::invalid("a benchmark's table has no `run`")),
        }
    }

    /// A benchmark that is linked into this program, behind the same table as a loaded one: for the tests of a plugin.
    ///
    /// # Errors
    /// None that a benchmark of the SDK can cause.
    pub fn linked<B: Benchmark>() -> Result<BenchmarkRef> {
        // SAFETY: the SDK's own table, which is static.
        unsafe { BenchmarkRef::new(const { &benchmark_table::<B>() }) }
    }

    pub fn id(&self) -> String {
        self.text(self.0.id)
    }

    pub fn version(&self) -> String {
        self.text(self.0.version)
    }

    pub fn category(&self) -> String {
        self.text(self.0.category)
    }

    pub fn summary(&self) -> String {
        self.text(self.0.summary)
    }

    pub fn options_schema(&self) -> String {
        self.text(self.0.options_schema)
    }

    pub fn needs_target(&self) -> bool {
        self.0.flags & SB_BENCHMARK_NEEDS_TARGET != 0
    }

    pub fn cold_start(&self) -> bool {
        self.0.flags & SB_BENCHMARK_COLD_START != 0
    }

    /// Whether it may be given a model that an earlier cell loaded.
    pub fn shares_models(&self) -> bool {
        self.0.flags & SB_BENCHMARK_SHARES_MODELS != 0
    }

    /// The one skill it measures; `None`: any.
    pub fn skill(&self) -> Option<String> {
        Some(self.text(self.0.skill)).filter(|skill| !skill.is_empty())
    }

    fn text(&self, text: *const std::ffi::c_char) -> String {
        // SAFETY: a string of a static table.
        unsafe { text::borrow(text) }.unwrap_or_default().into_owned()
    }

    /// Runs the benchmark on the control thread.
    ///
    /// # Errors
    /// Whatever the benchmark says.
    pub fn run(
        &self,
        host: &'static HostTable,
        target: Option<&TargetTable<'_>>,
        options: &Options,
        reporter: &ReporterTable<'_>,
    ) -> Result<()> {
        let Some(run) = self.0.run else { return Err(Error::invalid("the benchmark cannot run")) };
        let target = target.map_or(std::ptr::null(), |target| target.as_ptr());
        options.lend(|options| {
            // SAFETY: [main]; everything lent lives through the call.
            checked(|error| unsafe { run(host.as_ptr(), target, options, reporter.as_ptr(), error) })
        })
    }
}
