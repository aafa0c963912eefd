//! The benchmark `openai`: text, chat and embeddings by OpenAI's HTTP, under a load that arrives when it is due. It needs no model of this host: the server
//! has its own, whose answers nobody here can check.
//!
//! - `options`: which of the three, of what length. `prompts` and `body`: what is asked.
//! - `streams`: the worker. All streams are those of one thread with an event loop: here a thread for each would be what is measured, and
//!   nowhere else in this house. `files`: how many it may have open.
//! - `exchange`: one request. `door` and `connection`: the way there. `answer`: what comes back; `stream`: token by token. `noticed`: of the server, to be told.
//!
//! Arrivals, sessions, searches and their series are those of the library `load`, as for the benchmarks `serving` and `generation-serving`.
//!
//! Not here: retries. A request that fails is counted, or ends the cell.

mod answer;
mod body;
mod connection;
mod door;
mod exchange;
mod files;
mod noticed;
mod options;
mod prompts;
mod stream;
mod streams;
#[cfg(test)]
mod tests;

pub use noticed::Noticed;
use options::{Api, MOST_WORKERS, Question, TRACE_PART};
use skillbench_load::crew::Crew;
use skillbench_load::options::{Asked, Load};
use skillbench_load::server::{Server, Tokens};
use skillbench_plugin_api::sdk::{Benchmark, Context, Level};
use skillbench_plugin_api::{Error, Result};
use std::ffi::CStr;
use std::sync::Arc;
pub use streams::Streams;

pub struct OpenAi;

impl Benchmark for OpenAi {
    const ID: &'static CStr = c"openai";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr =
        c"Time to the first token and of each after it, of a server that speaks OpenAI's HTTP, and the largest rate that keeps limits";
    const OPTIONS_SCHEMA: &'static CStr = options::SCHEMA;
    const NEEDS_TARGET: bool = false;

    fn run(context: &Context<'_>) -> Result<()> {
        let question = Question::of(&context.options)?;
        let mut asked = Asked::read_with(&context.options, 1, question.api.makes(), MOST_WORKERS)?;
        if let Some(trace) = &mut asked.trace {
            let shares = Arc::make_mut(trace).share(question.trace_part.unwrap_or(TRACE_PART))?;
            if question.trace_part.is_some() && !shares {
                return Err(Error::invalid("option trace_part: the trace names no parts of its prompts (hash_ids)"));
            }
        }
        if let Load::Users(users) = asked.load
            && users > asked.workers
        {
            let text = format!(
                "option users: {users} users have as many requests under way, and {} workers would let the others wait here: ask for --option openai:workers={users}",
                asked.workers
            );
            return Err(Error::invalid(text));
        }
        let noticed = Arc::new(Noticed::default());
        let streams = Streams::new(&context.options, asked.workers, &noticed)?;
        let longest = asked.trace.as_ref().and_then(|trace| trace.longest());
        let longest = longest.map_or(question.new_tokens, |longest| longest.tokens);
        let most = if question.api == Api::Embeddings { 0 } else { longest };
        let tokens = Tokens { most, kept_by_backend: None };
        let seed = question.seed;
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, [streams])?;
            Server::new(context, asked, tokens, crew, seed)?.serve()
        })?;
        for text in noticed.told() {
            context.host.log(Level::Warn, text);
        }
        Ok(())
    }
}
