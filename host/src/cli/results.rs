//! What is asked of stored results.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Where results are.
#[derive(Args, Clone)]
pub struct Stored {
    /// The database [default: benchmarks.duckdb where runs are kept]
    #[arg(long, alias = "db-path", env = "BENCHMARK_DB_PATH", value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Where runs are kept
    #[arg(long, alias = "input-dir", value_name = "DIR", default_value = "results")]
    pub results_dir: PathBuf,
}

#[derive(Subcommand)]
pub enum DbCommand {
    /// Make an empty database
    Init {
        #[command(flatten)]
        stored: Stored,
        /// In place of one that is there; what is in its runs' folders can be imported again
        #[arg(long)]
        overwrite: bool,
    },
    /// Bring runs in: new ones, and those that have grown
    Import {
        #[command(flatten)]
        stored: Stored,
        /// Folders of runs, journals, run.json files [default: where runs are kept]
        place: Vec<PathBuf>,
    },
    /// Write runs in a form that other programs read
    Export {
        #[command(flatten)]
        stored: Stored,
        #[arg(long, value_enum, default_value_t = ExportForm::Parquet)]
        form: ExportForm,
        /// Where the files go
        #[arg(long, short, value_name = "DIR", default_value = "export")]
        output: PathBuf,
        /// Only these runs
        #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "RUN")]
        run: Vec<String>,
        /// Only cells of this condition in SQL: family = 'vision' AND plugin = 'cpu'
        #[arg(long = "where", value_name = "SQL", conflicts_with = "run")]
        condition: Option<String>,
    },
    /// Read all of it, and hold its tables against each other
    Check {
        #[command(flatten)]
        stored: Stored,
    },
    /// Every table and column with its meaning
    Describe {
        #[command(flatten)]
        stored: Stored,
    },
    /// Bring a database of an older host up to date
    Migrate {
        #[command(flatten)]
        stored: Stored,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// A folder for each run: cells.parquet and samples.parquet
    Parquet,
    /// One file: cells.csv
    Csv,
}

#[derive(Args)]
pub struct QueryArgs {
    #[command(flatten)]
    pub stored: Stored,
    /// A question, as DuckDB understands it; docs/results.md has the tables
    #[arg(required_unless_present = "sql_flag")]
    pub sql: Option<String>,
    #[arg(long = "sql", value_name = "SQL", conflicts_with = "sql", hide = true)]
    pub sql_flag: Option<String>,
    /// Into this file, in place of the terminal
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
