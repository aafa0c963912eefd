//! What can be said of plugin packages.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct AddArgs {
    /// A plugin package (its file or address, a name in an index, pypi:NAME or npm:NAME), or a library's file
    #[arg(value_name = "FILE|NAME|URL")]
    pub plugin: String,
    /// Of a library: under this id [default: the one it gives itself]
    #[arg(long)]
    pub id: Option<String>,
    /// Of a library: pin its hash, so that a changed one is refused; packages always are
    #[arg(long)]
    pub pin: bool,
    /// Look for a name in this index, before those of registries
    #[arg(long, value_name = "FILE|URL")]
    pub index: Vec<String>,
    /// Take a package that nobody signed
    #[arg(long)]
    pub unsigned: bool,
    /// Use this version also in the place of a newer one
    #[arg(long)]
    pub older: bool,
}

#[derive(Args)]
pub struct PackArgs {
    /// A folder with skillbench-plugin.toml, or libraries: FILE for this machine, PLATFORM=FILE for others
    #[arg(required = true, value_name = "DIR|[PLATFORM=]FILE")]
    pub what: Vec<String>,
    /// Sign it with this secret key of minisign; SKILLBENCH_KEY_PASSWORD has the password of an encrypted one
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Tell in the package what this report of `skillbench-check --report FILE` found
    #[arg(long, value_name = "FILE")]
    pub checked: Option<PathBuf>,
    /// The folder to write to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub output_dir: PathBuf,
}

#[derive(Args)]
pub struct TrustArgs {
    /// A public key of minisign (RW...), or its file; without one, all trusted keys are listed
    #[arg(value_name = "KEY|FILE")]
    pub key: Option<String>,
    /// Whose it is, in your words
    #[arg(long, default_value = "", requires = "key")]
    pub name: String,
    /// Trust it no more: a key, its number or its name
    #[arg(long, requires = "key")]
    pub remove: bool,
}
