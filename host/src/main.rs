//! `host`: one file for each subcommand, which parses, calls and prints. What is printed goes through `output` alone.

mod cli;
mod commands;
mod output;
mod progress;
mod screen;

use clap::Parser;
use std::process::ExitCode;

/// The program that loads plugins; it lies beside this one.
const WORKER: &str = if cfg!(windows) { "skillbench-worker.exe" } else { "skillbench-worker" };

fn main() -> ExitCode {
    // Before anything is parsed: a host without its worker beside it serves as one.
    if std::env::args_os().nth(1).is_some_and(|first| first == skillbench_worker::child::WORKER_ARGUMENT) {
        return skillbench_worker::child::run();
    }
    let beside = std::env::current_exe().map(|file| file.with_file_name(WORKER));
    if let Ok(worker) = beside
        && worker.is_file()
    {
        skillbench_worker::use_executable(worker);
    }
    let cli = cli::Cli::parse();
    // Libraries panic where a thread cannot be had; what was measured is in its journal.
    match skillbench_record::caught(|| commands::dispatch(cli)).unwrap_or_else(commands::panicked) {
        Ok(exit) => exit.code(),
        Err(failure) => {
            let told = failure.to_string();
            if !told.is_empty() {
                output::error(&told);
            }
            failure.exit().code()
        }
    }
}
