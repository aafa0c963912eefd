//! `host fleet`: many machines, and what is asked of them. And the flags with which a run goes to a fleet.

use super::launch::LaunchCommand;
use clap::{Args, Subcommand, ValueEnum, value_parser};
use skillbench_fleet::keys::Role;
use skillbench_fleet::submit::PRIORITIES;
use std::path::PathBuf;

/// After a restart of the server it takes up to half as long until every agent has given a sign of life.
const LEAST_SILENCE: u64 = 20;

/// A run that the machines of a fleet measure.
#[derive(Args, Clone, Default)]
pub struct FleetArgs {
    /// Measure on the machines of this fleet: the name of a pass, or its file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["lock_wait", "no_lock"])]
    pub fleet: Option<String>,
    /// Which machines measure: one of each class of devices (each-class), all that can (each-machine), or these [default: each-class]
    #[arg(long, value_name = "MACHINES", requires = "fleet")]
    pub on: Option<String>,
    /// Deal the models out over the machines of each class: sooner done, each figure of one machine
    #[arg(long, requires = "fleet")]
    pub spread: bool,
    /// Only machines with this property: machine, os, arch, cpu, device, driver, vendor or a label; KEY~PART for a part of it
    #[arg(long = "where", value_name = "KEY=VALUE", requires = "fleet")]
    pub properties: Vec<String>,
    /// Do not wait: print the submission's id, for `host fleet follow`
    #[arg(long, requires = "fleet", conflicts_with_all = ["report", "plots", "limit", "baseline", "save_baseline"])]
    pub detach: bool,
    /// Come before submissions of lower priority on each machine, from -100 to 100; those of one priority take turns [default: 0]
    #[arg(long, value_name = "NUMBER", requires = "fleet", allow_negative_numbers = true, value_parser = value_parser!(i64).range(PRIORITIES))]
    pub priority: Option<i64>,
    /// Move the cells of a machine that gave no sign of life for so long to another of its class [default: they wait for it]
    #[arg(long, value_name = "SECONDS", requires = "fleet", conflicts_with = "detach", value_parser = value_parser!(u64).range(LEAST_SILENCE..))]
    pub failover: Option<u64>,
    /// Wait up to so long for machines that can use what is asked for
    #[arg(long, value_name = "SECONDS", requires = "fleet")]
    pub wait: Option<u64>,
    /// Wait until so many machines can use any of it
    #[arg(long, value_name = "COUNT", requires = "wait")]
    pub machines: Option<usize>,
}

/// Which fleet is asked.
#[derive(Args, Clone)]
pub struct Asked {
    /// The fleet: the name of a pass, or its file [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub fleet: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum RoleArg {
    /// Measures, on the machine of this name
    Agent,
    /// Measures, on machines of any name
    Site,
    /// Asks for runs
    Submitter,
    /// Reads
    Viewer,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Role {
        match role {
            RoleArg::Agent => Role::Agent,
            RoleArg::Site => Role::Site,
            RoleArg::Submitter => Role::Submitter,
            RoleArg::Viewer => Role::Viewer,
        }
    }
}

#[derive(Subcommand)]
pub enum FleetCommand {
    /// Make a fleet: its keys, its server's certificate, and a submitter's pass for this user
    Init {
        /// The folder of the fleet: whoever has it is the fleet
        dir: PathBuf,
        /// The fleet's name [default: that of the folder]
        #[arg(long)]
        name: Option<String>,
        /// Where agents and submitters reach the server
        #[arg(long, value_name = "HOST[:PORT]", default_value = "127.0.0.1")]
        address: String,
    },
    /// Run the server of a fleet until it is stopped
    Serve {
        /// The folder of the fleet
        dir: PathBuf,
        /// The server's program [default: nats-server of this machine, else that of `host runtime install nats`]
        #[arg(long, value_name = "FILE")]
        server: Option<PathBuf>,
    },
    /// Issue a pass: a file that lets a machine or a person in
    User {
        /// The folder of the fleet
        dir: PathBuf,
        /// The name of the user; of an agent, that of its machine
        name: String,
        /// What the user may do
        #[arg(long, value_enum)]
        role: RoleArg,
        /// The pass is worth nothing after so many days
        #[arg(long, value_name = "DAYS")]
        expires: Option<u32>,
        /// The file of the pass [default: NAME.fleet]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List whom passes were issued to
    Users {
        /// The folder of the fleet
        dir: PathBuf,
    },
    /// Take a pass back: a running server throws its user out at once
    Revoke {
        /// The folder of the fleet
        dir: PathBuf,
        /// The name of the user
        name: String,
    },
    /// Measure on this machine what submitters ask for
    Agent(Box<AgentArgs>),
    /// Print what starts agents: on a cluster, as a service, or over ssh
    #[command(subcommand)]
    Launch(LaunchCommand),
    /// List the agents that are there, and what they do
    Agents(Asked),
    /// List the devices of all machines
    Devices(Asked),
    /// List submissions, or show how far one is
    Status {
        /// The submission's id
        id: Option<String>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Collect a submission here: its runs, their tables, the database
    Follow {
        /// The submission's id
        id: String,
        /// Move the cells of a machine that gave no sign of life for so long to another of its class [default: they wait for it]
        #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(LEAST_SILENCE..))]
        failover: Option<u64>,
        #[command(flatten)]
        asked: Asked,
        #[command(flatten)]
        persist: Box<super::PersistArgs>,
    },
    /// Keep here whole submissions that have ended and are not kept here yet
    Collect {
        /// Submissions [default: all]
        ids: Vec<String>,
        #[command(flatten)]
        asked: Asked,
        #[command(flatten)]
        persist: Box<super::PersistArgs>,
    },
    /// Have measured what has not ended of a submission: one that was taken back, or whose lots are in no queue
    Resume {
        /// The submission's id
        id: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Change the priority of a submission, from the next lot of each machine on
    Priority {
        /// The submission's id
        id: String,
        /// From -100 to 100; that of most is 0
        #[arg(allow_negative_numbers = true, value_parser = value_parser!(i64).range(PRIORITIES))]
        priority: i64,
        #[command(flatten)]
        asked: Asked,
    },
    /// Say of each machine whether it can use a backend, and why not
    Why {
        /// The backend, with a device after a colon
        backend: String,
        /// A model of a skillset, which a machine needs as it is here
        model: Option<String>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Take a submission back: what is measured stays
    Cancel {
        /// The submission's id
        id: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Hold the runs of a submission that are kept here against what the machines signed
    Verify {
        /// The submission's id
        id: String,
        /// The folder of runs [default: results]
        #[arg(long, value_name = "DIR")]
        results_dir: Option<PathBuf>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Offer a plugin package to machines, and wait for what becomes of it there
    Offer {
        /// The package, with its signature beside it where it has one
        package: PathBuf,
        /// These machines alone [default: all that are there]
        #[arg(long, value_name = "MACHINES", value_delimiter = ',')]
        on: Vec<String>,
        /// Take the offer back: machines that come later are not offered it
        #[arg(long)]
        withdraw: bool,
        /// Seconds after which a machine that has said nothing is told so
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        wait: u64,
        #[command(flatten)]
        asked: Asked,
    },
    /// List the files on the server: own models, files of options, what cells left
    Files {
        /// Remove these from the server: their SHA-256, or "all"
        #[arg(long, value_name = "SHA256")]
        remove: Vec<String>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Hold the machines of each class against each other, and name the slow ones
    Outliers {
        /// The submission's id, whose runs are kept here
        id: String,
        /// The folder of runs [default: results]
        #[arg(long, value_name = "DIR")]
        results_dir: Option<PathBuf>,
    },
    /// Have an agent end after what it measures now
    Drain {
        /// The machine
        machine: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// The process that becomes the server
    #[command(hide = true)]
    Become {
        /// The server's program
        program: PathBuf,
        /// Its configuration
        configuration: PathBuf,
        /// The process that it ends with
        parent: u32,
    },
}

#[derive(Args)]
pub struct AgentArgs {
    /// The pass
    pub pass: PathBuf,
    /// The name of the machine, with a site's pass [default: its host name]
    #[arg(long)]
    pub name: Option<String>,
    /// End with 130 where it is stopped by a signal, so that a scheduler starts it again
    #[arg(long)]
    pub stopped_fails: bool,
    #[command(flatten)]
    pub how: AgentFlags,
}

/// How an agent works, wherever it is started.
#[derive(Args, Clone, Default)]
pub struct AgentFlags {
    /// A property of the machine, for `--where`
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub labels: Vec<String>,
    /// Measure on these backends alone
    #[arg(long, alias = "backend", value_delimiter = ',', num_args = 1.., value_name = "PLUGIN")]
    pub plugin: Vec<String>,
    /// Where results lie until the server has them [default: in the user's folder of data]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// End after so long without work
    #[arg(long, value_name = "SECONDS")]
    pub idle_exit: Option<u64>,
    /// End after one lot
    #[arg(long)]
    pub once: bool,
    /// Which plugin packages it installs that submitters offer
    #[arg(long, value_enum, default_value_t)]
    pub accept: AcceptArg,
}

/// Which plugins may come from submitters: they run as the user of the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AcceptArg {
    /// None: plugins are those that are installed here
    #[default]
    Installed,
    /// Packages signed by a key that this machine trusts
    Signed,
    /// Also packages that nobody signed
    Any,
}
