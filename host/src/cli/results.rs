//! What is asked of stored results.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The folder of runs where nobody named another.
pub const RESULTS: &str = "results";

/// Where results are.
#[derive(Args, Clone, Default)]
pub struct Stored {
    /// The database file [default: benchmarks.duckdb in the folder of runs] [env: BENCHMARK_DB_PATH]
    #[arg(long, alias = "db-path", value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// The folder of runs [default: results]
    #[arg(long, alias = "input-dir", value_name = "DIR")]
    pub results_dir: Option<PathBuf>,
}

impl Stored {
    pub fn results(&self) -> PathBuf {
        self.results_dir.clone().unwrap_or_else(|| RESULTS.into())
    }
}

#[derive(Subcommand)]
pub enum DbCommand {
    /// Create an empty database
    Init {
        #[command(flatten)]
        stored: Stored,
        /// Replace an existing one; its runs can be imported again from their folders
        #[arg(long)]
        overwrite: bool,
    },
    /// Import new and grown runs
    Import {
        #[command(flatten)]
        stored: Stored,
        /// Folders of runs, journals, run.json files [default: the folder of runs]
        place: Vec<PathBuf>,
    },
    /// Export runs for other programs
    Export {
        #[command(flatten)]
        stored: Stored,
        /// The format of the files
        #[arg(long, alias = "form", value_enum, default_value_t = ExportForm::Parquet)]
        file_format: ExportForm,
        /// The folder to write to
        #[arg(long, alias = "output", short_alias = 'o', value_name = "DIR", default_value = "export")]
        output_dir: PathBuf,
        /// Only these runs
        #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "RUN")]
        run: Vec<String>,
        /// Only cells that meet this SQL condition: family = 'vision' AND plugin = 'cpu'
        #[arg(long = "where", value_name = "SQL", conflicts_with = "run")]
        condition: Option<String>,
    },
    /// Check that the database is whole and its tables agree
    Check {
        #[command(flatten)]
        stored: Stored,
    },
    /// List every table and column with its meaning
    Describe {
        #[command(flatten)]
        stored: Stored,
    },
    /// Migrate a database of an older host
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
    /// A file for each run: Bencher Metric Format, for its adapter `json`
    BencherJson,
    /// Two files for each run, for github-action-benchmark: what is better smaller, and bigger
    ActionJson,
    /// A file for each run: every metric of every cell, at the time of the run
    #[value(name = "openmetrics")]
    OpenMetrics,
}

#[derive(Args)]
pub struct MatrixArgs {
    /// Read this matrix file, of this or another tool, and not the database
    #[arg(conflicts_with_all = ["db", "results_dir"])]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub stored: Stored,
    /// Only this hardware
    #[arg(long = "plugin", aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "HARDWARE")]
    pub hardware: Vec<String>,
    /// Only these models
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Write to this file; the ending .json, .md, .csv or .html sets the format
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct QueryArgs {
    #[command(flatten)]
    pub stored: Stored,
    /// A statement in DuckDB's SQL, which only reads; docs/results.md lists the tables
    #[arg(required_unless_present_any = ["sql_flag", "view", "architecture_performance_comparison", "optimal_hardware_analysis"])]
    pub sql: Option<String>,
    #[arg(long = "sql", value_name = "SQL", conflicts_with = "sql", hide = true)]
    pub sql_flag: Option<String>,
    /// Print a whole table or view: comprehensive-benchmarks, latest-benchmarks, hardware-comparison ...
    #[arg(long, alias = "report", value_name = "NAME", conflicts_with_all = ["sql", "sql_flag"])]
    pub view: Option<String>,
    /// Print the view throughput-by-architecture
    #[arg(long, hide = true, conflicts_with_all = ["sql", "sql_flag", "view"])]
    pub architecture_performance_comparison: bool,
    /// As `host recommend --optimal-hardware-analysis`
    #[arg(long, hide = true, conflicts_with_all = ["sql", "sql_flag", "view", "architecture_performance_comparison", "is_unsafe"])]
    pub optimal_hardware_analysis: bool,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Let the statement do all that DuckDB can: change the database, read and write files, load extensions
    #[arg(long = "unsafe")]
    pub is_unsafe: bool,
}

/// Which results are meant.
#[derive(Args, Clone, Default)]
pub struct WhichRuns {
    #[command(flatten)]
    pub stored: Stored,
    /// Runs: latest, ids, folders, journals or run.json files [default: latest, the newest run with a measured cell in the named
    /// database, else in the folder of runs]
    pub run: Vec<String>,
    /// Every run of the database
    #[arg(long, alias = "all-models", conflicts_with_all = ["run", "condition"])]
    pub all: bool,
    /// Cells of the database that meet this SQL condition: family = 'vision' AND plugin = 'cpu'
    #[arg(long = "where", value_name = "SQL", conflicts_with = "run")]
    pub condition: Option<String>,
    /// Only these models
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Only this hardware: names of backends, or all
    #[arg(long = "plugin", aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN")]
    pub hardware: Vec<String>,
    /// Result files of this host to read
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FILE", conflicts_with_all = ["run", "all", "condition", "db", "results_dir"])]
    pub json_path: Vec<PathBuf>,
    /// Read several runs as one: folders, ids or files
    #[arg(long, alias = "aggregate-results", num_args = 1.., value_name = "RUN", conflicts_with_all = ["run", "all", "condition", "json_path"])]
    pub join: Vec<String>,
}

#[derive(Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub which: WhichRuns,
    /// Compare hardware, and the first run with the last
    #[arg(long, alias = "comparative-report", conflicts_with_all = ["optimization", "dashboard"])]
    pub comparative: bool,
    /// Suggest what to change, with the evidence
    #[arg(long, alias = "generate-optimization-report", conflicts_with = "dashboard")]
    pub optimization: bool,
    /// Write pages about the whole database: an index, and one for each model
    #[arg(long, alias = "generate-dashboard")]
    pub dashboard: bool,
    /// The file, of the format that its ending says (.html, .md, .json, .csv), or the folder of the dashboard
    /// [default: the terminal; report.html in the run's folder; dashboard/ in the folder of runs]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct PlotArgs {
    #[command(flatten)]
    pub which: WhichRuns,
    /// Kinds of plots [default: all that have data]; `--kind list` lists them
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "PLOT")]
    pub kind: Vec<String>,
    /// Plot a comparison of architectures
    #[arg(long)]
    pub architecture_comparison: bool,
    /// Plot the share of the hardware's peaks
    #[arg(long)]
    pub hardware_efficiency_chart: bool,
    /// Plot memory against batch size and parameters
    #[arg(long)]
    pub memory_scaling_chart: bool,
    /// Compare two runs: before and after
    #[arg(long, alias = "plot-comparison", num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["run", "all", "condition", "json_path", "join"])]
    pub comparison: Vec<String>,
    /// One file with what is plotted: a page if it ends in .html, else the one plot as .svg or .png
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["output_dir", "file_format"])]
    pub output: Option<PathBuf>,
    /// The folder to write to [default: plots/ in the run's folder]
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Image formats: svg, png or both
    #[arg(long, alias = "image", value_enum, value_delimiter = ',', num_args = 1.., default_values = ["svg", "png"])]
    pub file_format: Vec<ImageArg>,
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
