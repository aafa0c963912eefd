//! What can be typed.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Holds a skillbench plugin against the rules, without the host
#[derive(Parser)]
#[command(
    name = "skillbench-check",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 all kept · 1 a rule is broken, or something was found · 2 usage · 5 a rule could not be checked here\n\n\
                  A library that is called like a command is given with its folder: ./ladder"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub rules: RulesArgs,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run ONNX operators one by one on a backend, and say what to build next
    Ladder(LadderArgs),
    /// Use a backend at random, from a seed, and report what crashes, hangs or writes out of bounds
    Fuzz(FuzzArgs),
    /// Verify a report's signature, and that it is about a library
    Verify(VerifyArgs),
    /// Make a key that signs reports: KEYFILE, and KEYFILE.pub for others
    Keygen {
        /// Where the secret key goes; it has no password
        keyfile: PathBuf,
    },
}

/// The library that is looked at, and how it is opened.
#[derive(Args)]
pub struct SubjectArgs {
    /// An option of the plugin; may be given several times
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub options: Vec<String>,
    /// What a worker may reach
    #[arg(long, value_name = "MODE", default_value = "default", value_parser = ["off", "default", "strict"])]
    pub sandbox: String,
    /// A variable of the environment that the plugin needs, * for any ending; may be given several times
    #[arg(long = "env", value_name = "NAME")]
    pub environment: Vec<String>,
    /// A device that it opens for writing, * for any characters; may be given several times
    #[arg(long = "device", value_name = "PATH")]
    pub devices: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Junit,
}

#[derive(Args)]
pub struct RulesArgs {
    /// The library to check
    #[arg(required_unless_present = "list")]
    pub library: Option<PathBuf>,
    #[command(flatten)]
    pub subject: SubjectArgs,
    /// A library with a backend to measure with, for rules about benchmarks
    #[arg(long, value_name = "LIBRARY")]
    pub backend: Option<PathBuf>,
    /// Only these rules, by id or number
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    pub rules: Vec<String>,
    /// List the rules
    #[arg(long)]
    pub list: bool,
    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the report as JSON to this file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the verdicts as JUnit XML to this file, too
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a report to give away: the verdicts, with the hash of the library, this program and the machine
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Sign the report with this minisign key, as FILE.minisig
    #[arg(long, value_name = "KEYFILE", requires = "report")]
    pub sign: Option<PathBuf>,
    /// Climb the operator ladder as well, and put its totals into the report
    #[arg(long)]
    pub ladder: bool,
    /// How long one rule may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub limit: u64,
}

#[derive(Args)]
pub struct LadderArgs {
    /// The library of the backend
    pub library: PathBuf,
    #[command(flatten)]
    pub subject: SubjectArgs,
    /// Only these operators, such as Conv,Softmax
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub operators: Vec<String>,
    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Args)]
pub struct FuzzArgs {
    /// The library of the backend
    pub library: PathBuf,
    #[command(flatten)]
    pub subject: SubjectArgs,
    /// The first seed: each run has the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many runs there are
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub runs: Option<u64>,
    /// Leave the models as they are: what is found lies in slots and their order, not in the reading of files
    #[arg(long)]
    pub whole_models: bool,
    /// How long new runs begin, in seconds
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// How long one run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub limit: u64,
    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// The report; its signature lies beside it as REPORT.minisig
    pub report: PathBuf,
    /// The public key: a file, or the line in it
    #[arg(long, value_name = "PUBKEY")]
    pub key: String,
    /// The library that the report has to be about
    #[arg(long, value_name = "LIB")]
    pub library: Option<PathBuf>,
}
