//! Plugins: looked at, checked, used at random, and written from the vendors' kit.

use super::package::{AddArgs, PackArgs, TrustArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct FuzzArgs {
    /// A backend's id, or the path of its library
    pub plugin: String,
    /// An option of the plugin
    #[arg(long, value_name = "KEY=VALUE")]
    pub option: Vec<String>,
    /// The first seed: each run has the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many runs there are [default: 200]
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub runs: Option<u64>,
    /// How long new runs begin
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// Leave the models as they are: what is found lies in slots and their order, not in the reading of files
    #[arg(long)]
    pub whole_models: bool,
    /// How long one run may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub limit: u64,
}

#[derive(Subcommand)]
pub enum PluginCommand {
    /// List all plugins, and those that were rejected with the reason
    List,
    /// Show what a plugin says of itself
    Info {
        /// A plugin's id
        plugin: String,
    },
    /// Check a plugin, or any library, against the rules of a well-behaved plugin
    Check {
        /// A plugin's id, or the path of a library
        #[arg(required_unless_present = "list")]
        plugin: Option<String>,
        /// List the rules
        #[arg(long)]
        list: bool,
        /// An option of the plugin
        #[arg(long, value_name = "KEY=VALUE")]
        option: Vec<String>,
    },
    /// Run ONNX operators one by one on backends, and tell which to build next
    Ladder {
        /// Backends
        #[arg(required = true)]
        plugin: Vec<String>,
        /// Only these operators
        #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "NAME")]
        operators: Vec<String>,
    },
    /// Use a backend at random, from a seed, and report what crashes, hangs or writes out of bounds
    Fuzz(FuzzArgs),
    /// The contract of plugins, slot by slot: who calls it, which rules hold it, which plugins have it
    Slots,
    /// Write a first plugin that builds and passes `check` as it is
    New {
        /// Its id: a-z, 0-9 and '-'
        name: String,
        /// The language of the template
        #[arg(long, value_enum, default_value_t = Language::Rust)]
        lang: Language,
        /// What it is to be
        #[arg(long, value_enum, default_value_t = Kind::Backend)]
        kind: Kind,
        /// The folder to make it in
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
    },
    /// Write the vendors' kit: headers for C, C++ and Rust, templates, and a script that tries them
    Sdk {
        /// The folder to make
        dir: PathBuf,
    },
    /// Install a plugin package after verifying it, or register a library
    Add(AddArgs),
    /// Pack a plugin into one file that `add` installs, and sign it
    Pack(PackArgs),
    /// Trust a vendor's key, or list the trusted keys
    Trust(TrustArgs),
    /// Write the index of a folder of plugin packages, to be hosted beside them
    Index {
        /// The folder
        dir: PathBuf,
    },
    /// Remove what `add` installed or registered
    Remove {
        /// A plugin's id
        plugin: String,
    },
}

/// Languages of the kit's templates, as its folders are named.
#[derive(Clone, Copy, ValueEnum)]
pub enum Language {
    Rust,
    C,
    Cpp,
    Zig,
}

impl Language {
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Zig => "zig",
        }
    }
}

/// Kinds of plugins that the kit has a template of, as its folders are named.
#[derive(Clone, Copy, ValueEnum)]
pub enum Kind {
    Backend,
    Benchmark,
    Skillset,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Backend => "backend",
            Kind::Benchmark => "benchmark",
            Kind::Skillset => "skillset",
        }
    }
}
