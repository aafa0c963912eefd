//! The benchmark `generator`: what issues requests, alone. A worker is done at once, so that whatever is late is the generator's own: how exactly this
//! machine can put a load on anything.

use crate::options::OF_GENERATOR;
use skillbench_load::crew::Crew;
use skillbench_load::options::{Asked, Load, Of};
use skillbench_load::server::{Server, Tokens};
use skillbench_plugin_api::sdk::{Benchmark, Context};
use skillbench_plugin_api::{Error, Result};
use std::ffi::CStr;

/// The seed of arrivals, as of a run of models.
const SEED: u64 = 42;

pub struct Generator;

impl Benchmark for Generator {
    const ID: &'static CStr = c"generator";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr =
        c"How late this machine issues requests at a rate, beside a worker that is done at once, and the CPU time that it takes";
    const OPTIONS_SCHEMA: &'static CStr = OF_GENERATOR;
    const NEEDS_TARGET: bool = false;

    fn run(context: &Context<'_>) -> Result<()> {
        let asked = Asked::read(&context.options, 1, Of::Items)?;
        if !matches!(asked.load, Load::Rate(_)) {
            return Err(Error::invalid(
                "only requests that arrive at a rate can be late: give --option generator:rate=",
            ));
        }
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, (0..asked.workers).map(|_| || Ok(())))?;
            Server::new(context, asked, Tokens::default(), crew, SEED)?.even_late().serve()
        })
    }
}
