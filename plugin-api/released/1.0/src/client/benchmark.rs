//! A benchmark's table.

use crate::error::checked;
use crate::host_tables::{HostTable, ReporterTable, TargetTable};
use crate::raw::*;
use crate::sdk::{Benchmark, Context, benchmark_table};
use crate::{Error, Options, Result, abi_size, text};
use std::sync::Arc;

#[derive(Clone)]
pub struct BenchmarkRef(Kind);

#[derive(Clone)]
enum Kind {
    Table(sb_benchmark),
    Value(Arc<BenchmarkFacts>, Arc<Work>),
}

/// What a benchmark that has no table says of itself.
pub struct BenchmarkFacts {
    pub id: String,
    pub version: String,
    pub category: String,
    pub summary: String,
    pub options_schema: String,
    pub needs_target: bool,
    pub cold_start: bool,
    pub shares_models: bool,
    /// "": any.
    pub skill: String,
}

type Work = dyn Fn(&Context<'_>) -> Result<()> + Send + Sync;

impl BenchmarkRef {
    /// # Safety
    /// `table` is null or a benchmark's static table.
    pub(super) unsafe fn new(table: *const sb_benchmark) -> Result<BenchmarkRef> {
        // SAFETY: the caller promises it.
        let raw = unsafe { abi_size::read(table) }.ok_or_else(|| Error::invalid("a benchmark's table is null"))?;
        match raw.run.is_some() {
            true => Ok(BenchmarkRef(Kind::Table(raw))),
            false => Err(Error::invalid("a benchmark's table has no `run`")),
        }
    }

    /// A benchmark that has no table, and what it does.
    pub fn of(facts: BenchmarkFacts, run: impl Fn(&Context<'_>) -> Result<()> + Send + Sync + 'static) -> BenchmarkRef {
        BenchmarkRef(Kind::Value(Arc::new(facts), Arc::new(run)))
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
        self.text(|table| table.id, |facts| &facts.id)
    }

    pub fn version(&self) -> String {
        self.text(|table| table.version, |facts| &facts.version)
    }

    pub fn category(&self) -> String {
        self.text(|table| table.category, |facts| &facts.category)
    }

    pub fn summary(&self) -> String {
        self.text(|table| table.summary, |facts| &facts.summary)
    }

    pub fn options_schema(&self) -> String {
        self.text(|table| table.options_schema, |facts| &facts.options_schema)
    }

    pub fn needs_target(&self) -> bool {
        self.flag(SB_BENCHMARK_NEEDS_TARGET, |facts| facts.needs_target)
    }

    pub fn cold_start(&self) -> bool {
        self.flag(SB_BENCHMARK_COLD_START, |facts| facts.cold_start)
    }

    /// Whether it may be given a model that an earlier cell loaded.
    pub fn shares_models(&self) -> bool {
        self.flag(SB_BENCHMARK_SHARES_MODELS, |facts| facts.shares_models)
    }

    /// The one skill it measures; `None`: any.
    pub fn skill(&self) -> Option<String> {
        Some(self.text(|table| table.skill, |facts| &facts.skill)).filter(|skill| !skill.is_empty())
    }

    fn flag(&self, flag: u32, of_facts: impl Fn(&BenchmarkFacts) -> bool) -> bool {
        match &self.0 {
            Kind::Table(table) => table.flags & flag != 0,
            Kind::Value(facts, _) => of_facts(facts),
        }
    }

    fn text(
        &self,
        of_table: impl Fn(&sb_benchmark) -> *const std::ffi::c_char,
        of_facts: impl Fn(&BenchmarkFacts) -> &String,
    ) -> String {
        match &self.0 {
            // SAFETY: a string of a static table.
            Kind::Table(table) => unsafe { text::borrow(of_table(table)) }.unwrap_or_default().into_owned(),
            Kind::Value(facts, _) => of_facts(facts).clone(),
        }
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
        let target = target.map_or(std::ptr::null(), |target| target.as_ptr());
        let table = match &self.0 {
            Kind::Table(table) => table,
            Kind::Value(_, work) => {
                // SAFETY: tables of this side, which are borrowed through the call.
                let context = unsafe { Context::new(host.as_ptr(), target, options.clone(), reporter.as_ptr()) }?;
                return work(&context);
            }
        };
        let Some(run) = table.run else { return Err(Error::invalid("the benchmark cannot run")) };
        options.lend(|options| {
            // SAFETY: [main]; everything lent lives through the call.
            checked(|error| unsafe { run(host.as_ptr(), target, options, reporter.as_ptr(), error) })
        })
    }
}
