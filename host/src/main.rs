//! `host`: one file for each subcommand, which parses, calls and prints. What is printed goes through `output` alone.

mod cli;
mod commands;
mod output;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything is parsed: a worker takes no arguments of ours, and starts in milliseconds.
    if std::env::args_os().nth(1).is_some_and(|first| first == skillbench_engine::serve::WORKER_ARGUMENT) {
        return skillbench_engine::serve::run();
    }
    let cli = cli::Cli::parse();
    match commands::dispatch(cli) {
        Ok(exit) => exit.code(),
        Err(failure) => {
            output::error(&failure.to_string());
            failure.exit().code()
        }
    }
}
