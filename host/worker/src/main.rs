//! The process that loads plugins. It is a program of its own, so that neither the time to start it nor its memory has anything of
//! the host's database and data frames in it.

use std::process::ExitCode;

fn main() -> ExitCode {
    skillbench_worker::child::run()
}
