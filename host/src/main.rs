//! `host`: one file for each subcommand, which parses, calls and prints. What is printed goes through `output` alone.

mod called;
mod cli;
mod commands;
mod output;
mod progress;
mod screen;

use clap::error::ErrorKind;
use skillbench_record::{scratch, shown};
use std::ffi::OsString;
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
    std::panic::set_hook(Box::new(|panic| output::error(&format!("a fault of the host, please report it: {panic}"))));
    called::remember(std::env::args_os().next(), cli::commands());
    let cli = cli::parse().unwrap_or_else(|error| refuse(&error));
    output::set_wide(cli.global.wide);
    scratch::sweep();
    // Libraries panic where a thread cannot be had; what was measured is in its journal.
    let ended = skillbench_record::caught(|| commands::dispatch(cli)).unwrap_or_else(commands::panicked);
    // Workers that were killed leave what they were at.
    scratch::sweep();
    skillbench_record::paths::remove_private_cache();
    match ended {
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

/// Shows why the arguments cannot be parsed, or the help that was asked for, and ends. Arguments may come from a script: where one holds
/// something that a terminal would obey, the message is shown without its colours, which cannot be told from it.
fn refuse(error: &clap::Error) -> ! {
    if error.kind() == ErrorKind::DisplayVersion && std::env::args_os().any(|argument| argument == "--verbose") {
        output::print(&commands::version::told());
        std::process::exit(0);
    }
    let plain = |argument: OsString| argument.to_str().is_some_and(|text| shown::lines(text) == text);
    if !error.use_stderr() || std::env::args_os().all(plain) {
        error.exit();
    }
    output::say(error.render().to_string().trim_end());
    std::process::exit(error.exit_code());
}
