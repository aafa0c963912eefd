//! `skillbench-check`: holds a plugin's library against the rules, climbs the operator ladder with it and uses it at random, in one
//! small program without the host.
//!
//! - `cli`: what can be typed. `subject`: the library that is looked at. `exit`: how the program ends. `output`: all that is printed.
//! - `rules`, `ladder`, `fuzz`, `verify`: the commands. The rules, the ladder and the random use are the worker's.
//! - `document`, `junit`, `table`: verdicts in forms.

mod cli;
mod document;
mod exit;
mod fuzz;
mod junit;
mod ladder;
mod output;
mod rules;
mod subject;
mod table;
mod verify;

use clap::Parser;
use cli::{Cli, Command};
use skillbench_record::{paths, scratch};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything is parsed: this program is its own worker, which opens libraries.
    if std::env::args_os().nth(1).is_some_and(|first| first == skillbench_worker::child::WORKER_ARGUMENT) {
        return skillbench_worker::child::run();
    }
    let cli = Cli::parse();
    // What processes left behind that were killed.
    scratch::sweep();
    let done = match &cli.command {
        None => rules::rules(&cli.rules),
        Some(Command::Ladder(args)) => ladder::ladder(args),
        Some(Command::Fuzz(args)) => fuzz::fuzz(args),
        Some(Command::Verify(args)) => verify::verify(args),
        Some(Command::Keygen { keyfile }) => verify::keygen(keyfile),
    };
    scratch::sweep();
    paths::remove_private_cache();
    match done {
        Ok(exit) => exit.code(),
        Err(error) => {
            output::error(&error.to_string());
            error.exit().code()
        }
    }
}
