//! What is asked of stored results.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Where results are.
#[derive(Args, Clone, Default)]
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
    /// A file for each run: by family, model and hardware
    SuiteJson,
    /// A file for each run: every cell by its name
    FlatJson,
    /// A file for each run: success rates by model
    FlatCsv,
    /// A file for each run: what loading cost, one at a time and at once
    SkillsetJson,
    /// One file for all of them: what runs where
    MatrixJson,
}

#[derive(Args)]
pub struct MatrixArgs {
    /// A matrix file, of this or another tool, in place of the database
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub stored: Stored,
    /// Only these
    #[arg(long, alias = "plugin", value_delimiter = ',', num_args = 1.., value_name = "HARDWARE")]
    pub hardware: Vec<String>,
    /// Only these
    #[arg(long, alias = "models", value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Into this file, in place of the terminal; .json, .md, .csv and .html tell the form
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct QueryArgs {
    #[command(flatten)]
    pub stored: Stored,
    /// A question, as DuckDB understands it; docs/results.md has the tables
    #[arg(required_unless_present_any = ["sql_flag", "report", "architecture_performance_comparison"])]
    pub sql: Option<String>,
    #[arg(long = "sql", value_name = "SQL", conflicts_with = "sql", hide = true)]
    pub sql_flag: Option<String>,
    /// A whole table or view, by its name: comprehensive-benchmarks, latest-benchmarks, hardware-comparison ...
    #[arg(long, value_name = "NAME", conflicts_with_all = ["sql", "sql_flag"])]
    pub report: Option<String>,
    /// The view throughput-by-architecture
    #[arg(long, hide = true, conflicts_with_all = ["sql", "sql_flag", "report"])]
    pub architecture_performance_comparison: bool,
    /// Into this file, in place of the terminal
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Which results are meant.
#[derive(Args, Clone, Default)]
pub struct WhichRuns {
    #[command(flatten)]
    pub stored: Stored,
    /// Runs: latest, ids, folders, journals or run.json files [default: latest]
    pub run: Vec<String>,
    /// Every run of the database
    #[arg(long, conflicts_with_all = ["run", "condition"])]
    pub all: bool,
    /// Cells of the database of this condition in SQL: family = 'vision' AND plugin = 'cpu'
    #[arg(long = "where", value_name = "SQL", conflicts_with = "run")]
    pub condition: Option<String>,
    /// Only these models
    #[arg(long, alias = "model-id", value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Result files of this host
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FILE", conflicts_with_all = ["run", "all", "condition"])]
    pub json_path: Vec<PathBuf>,
    /// Several runs as one: folders, ids or files
    #[arg(long, alias = "aggregate-results", num_args = 1.., value_name = "RUN", conflicts_with_all = ["run", "all", "condition", "json_path"])]
    pub join: Vec<String>,
}

#[derive(Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub which: WhichRuns,
    /// Hardware side by side, and the first run against the last
    #[arg(long, alias = "comparative-report", conflicts_with_all = ["optimization", "dashboard"])]
    pub comparative: bool,
    /// What to change, with the evidence for it
    #[arg(long, alias = "generate-optimization-report", conflicts_with = "dashboard")]
    pub optimization: bool,
    /// Pages over the whole database: an index, and one for each model
    #[arg(long, alias = "generate-dashboard")]
    pub dashboard: bool,
    /// The file, or the folder of the dashboard [default: the terminal; report.html beside the run, dashboard/ beside the runs]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct PlotArgs {
    #[command(flatten)]
    pub which: WhichRuns,
    /// Which plots [default: all in which there is something]; `--kind list` lists them
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "PLOT")]
    pub kind: Vec<String>,
    /// The plots of architectures side by side
    #[arg(long)]
    pub architecture_comparison: bool,
    /// What was reached of the peaks
    #[arg(long)]
    pub hardware_efficiency_chart: bool,
    /// Memory against batch and parameters
    #[arg(long)]
    pub memory_scaling_chart: bool,
    /// Two runs: before and after
    #[arg(long, alias = "plot-comparison", num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["run", "all", "condition", "json_path", "join"])]
    pub comparison: Vec<String>,
    /// Where the files go [default: plots/ beside the run]
    #[arg(long, short, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// svg, png or both
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., default_values = ["svg", "png"])]
    pub image: Vec<ImageArg>,
    /// Width in pixels
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(320..=4000))]
    pub width: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImageArg {
    Svg,
    Png,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    Html,
    Markdown,
}
