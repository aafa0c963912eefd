//! A run of benchmarks that are plain functions: kept and held to what was asked as any other run.

use crate::event::{Event, Listener};
use crate::gate::Asked;
use crate::keep::Kept;
use crate::measure::{Begun, measure};
use crate::run::{Ended, Ran, Session, SessionError, check_name};
use skillbench_engine::bench::{self, Discovery, FunctionPlan};
use skillbench_engine::environment;
use skillbench_record::{Environment, RunRequest};
use skillbench_worker::Stop;

impl Session {
    /// Calls the functions that a request means. Who has the handle to stop ends it; what is measured is kept.
    ///
    /// # Errors
    /// It cannot be carried out, or its results cannot be kept.
    pub fn run_functions(
        &mut self,
        discovery: &Discovery,
        request: RunRequest,
        asked: &Asked,
        stop: &Stop,
        on: &mut Listener<'_>,
    ) -> Result<Ended, SessionError> {
        let plan = discovery.plan(request)?;
        check_name(&self.keep.folder)?;
        self.lock.take(stop, on)?;
        if stop.asked() {
            return Ok(Ended::Stopped);
        }
        let kept = self.call(&plan, false, stop, on)?;
        let again = |request: RunRequest, on: &mut Listener<'_>| self.call(&discovery.plan(request)?, true, stop, on);
        let verdict = match stop.asked() {
            true => None,
            false => Some(self.hold(asked, &plan.request, &kept, on, again)?),
        };
        Ok(Ended::Ran(Box::new(Ran { kept, verdict })))
    }

    fn call(
        &self,
        plan: &FunctionPlan,
        is_again: bool,
        stop: &Stop,
        on: &mut Listener<'_>,
    ) -> Result<Kept, SessionError> {
        let begun = Begun::new(&self.keep.folder, &plan.request, environment_of(plan), self.command.clone());
        on(Event::RunBegun { names: &plan.names() });
        let measured = measure(begun.map_err(SessionError::Measure)?, on, |head, folder, _, observer| {
            bench::execute(plan, head, folder, stop, observer)
        });
        let kept = self.keep.keep(measured.map_err(SessionError::Measure)?, is_again);
        on(Event::Kept(&kept));
        Ok(kept)
    }
}

/// The machine, and the libraries that hold the functions.
fn environment_of(plan: &FunctionPlan) -> Environment {
    let libraries = plan.functions.iter().filter_map(|function| {
        let found = &function.found;
        let sealed = found.library.sealed.first()?;
        Some((found.plugin.clone(), sealed.sha256.clone()))
    });
    Environment { plugin_sha256: libraries.collect(), ..environment::probe() }
}
