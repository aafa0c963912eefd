//! `host fleet launch`: what starts agents where a scheduler, a service manager or ssh does.

use super::fleet::AgentFlags;
use clap::{Args, Subcommand};
use std::num::NonZeroU32;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum LaunchCommand {
    /// A batch script for Slurm: an array of agents, each with a node to itself
    Slurm {
        /// A site's pass, in a folder that the nodes see
        pass: PathBuf,
        /// So many nodes
        #[arg(long, default_value_t = NonZeroU32::MIN)]
        nodes: NonZeroU32,
        /// An option of sbatch, such as partition=gpu or time=04:00:00
        #[arg(long = "sbatch", value_name = "OPTION[=VALUE]")]
        options: Vec<String>,
        #[command(flatten)]
        how: LaunchArgs,
    },
    /// A manifest for Kubernetes: a Job of agents, each with a node to itself
    Kubernetes {
        /// A site's pass
        pass: PathBuf,
        /// The container's image, such as one made with scripts/packaging/Containerfile
        image: String,
        /// So many nodes
        #[arg(long, default_value_t = NonZeroU32::MIN)]
        nodes: NonZeroU32,
        /// Only nodes with this label, such as nvidia.com/gpu.product=NVIDIA-H200
        #[arg(long = "select", value_name = "KEY=VALUE")]
        selectors: Vec<String>,
        /// So much of a resource for each agent, such as nvidia.com/gpu=8: all that the node has
        #[arg(long = "resource", value_name = "NAME=COUNT")]
        resources: Vec<String>,
        #[command(flatten)]
        how: LaunchArgs,
    },
    /// A unit of systemd for this machine
    Systemd {
        /// The pass
        pass: PathBuf,
        #[command(flatten)]
        how: LaunchArgs,
    },
    /// A script that copies the pass to machines and starts an agent on each
    Ssh {
        /// The pass: a site's for more than one machine
        pass: PathBuf,
        /// The machines, as ssh calls them
        #[arg(required = true, value_name = "MACHINE")]
        machines: Vec<String>,
        #[command(flatten)]
        how: LaunchArgs,
    },
}

/// What is started, and how.
#[derive(Args)]
pub struct LaunchArgs {
    /// The program there [default: this one for slurm and systemd, the one on the path for kubernetes and ssh]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub agent: AgentFlags,
}
