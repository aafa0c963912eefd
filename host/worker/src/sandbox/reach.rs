//! Which files a command has to reach, as its own fields say.

use super::{Confinement, Sandbox};
use crate::{CellJob, Command, Library, ModelPaths, VerifyJob};
use skillbench_record::PluginOptions;
use std::path::{Path, PathBuf};

/// What a command's worker needs.
pub(crate) struct Reach {
    pub sandbox: Sandbox,
    /// Folders that it writes to.
    pub writable: Vec<PathBuf>,
    /// Files and folders that it reads.
    pub readable: Vec<PathBuf>,
}

/// Where the system has its libraries and its facts, and nothing of users.
const SYSTEM: [&str; 12] =
    ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys", "/dev", "/run"];
/// Devices that every program may write to.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"];

impl Reach {
    pub fn of(command: &Command) -> Reach {
        let mut reach = Reach { sandbox: Sandbox::default(), writable: vec![], readable: vec![] };
        let libraries = libraries(command);
        if let Some((first, others)) = libraries.split_first() {
            reach.sandbox = first.sandbox.clone();
            for library in others {
                reach.sandbox = reach.sandbox.and(&library.sandbox);
            }
        }
        for library in libraries {
            reach.read_folder_of(&library.path);
        }
        match command {
            Command::Describe { .. } | Command::Permit(_) => {}
            Command::Devices { backend } => reach.read_options(&backend.options),
            Command::Inspect { backend, model, .. } => {
                reach.read_options(&backend.options);
                reach.read_model(model);
            }
            Command::Build { directory, .. } => reach.writable.push(directory.clone()),
            Command::Reference(job) => {
                reach.read_options(&job.backend.options);
                reach.read_model(&job.model);
                reach.write_folder_of(&job.out);
            }
            Command::Cell(job) => reach.of_cell(job),
            Command::Function(job) => {
                reach.read_files(&job.options);
                reach.writable.extend(job.attachments.clone());
            }
            Command::Profile(job) => {
                reach.read_options(&job.backend.options);
                reach.read_model(&job.model);
                job.trace.iter().for_each(|trace| reach.write_folder_of(trace));
            }
            Command::Check(job) => {
                job.backend.iter().for_each(|backend| reach.read_options(&backend.options));
                reach.read_options(&job.options);
                reach.readable.push(job.probe.clone());
                reach.writable.push(job.scratch.clone());
            }
            Command::Ladder(job) => {
                reach.read_options(&job.backend.options);
                reach.writable.push(job.scratch.clone());
            }
            Command::Fuzz(job) => {
                reach.read_options(&job.backend.options);
                reach.writable.push(job.scratch.clone());
            }
        }
        reach
    }

    fn of_cell(&mut self, job: &CellJob) {
        self.read_options(&job.backend.options);
        self.read_files(&job.benchmark_options);
        self.read_model(&job.model);
        for verify in job.sizes.iter().map(|size| &size.verify).chain([&job.verify]) {
            if let VerifyJob::Against { file, .. } = verify {
                // Its large tensors lie next to it.
                self.read_folder_of(file);
            }
        }
        // The cells that follow in this worker have folders next to these.
        job.cache_dir.iter().chain(&job.attachments).for_each(|folder| self.write_folder_of(folder));
    }

    /// Libraries and programs open what lies next to them.
    fn read_options(&mut self, options: &PluginOptions) {
        for path in options.values().flat_map(std::env::split_paths).filter(|path| path.is_absolute()) {
            self.read_folder_of(&path);
            self.readable.push(path);
        }
    }

    /// A benchmark opens what it is given, and nothing beside it.
    fn read_files(&mut self, options: &PluginOptions) {
        self.readable.extend(options.values().map(PathBuf::from).filter(|path| path.is_absolute()));
    }

    fn read_model(&mut self, model: &ModelPaths) {
        model.parts.iter().for_each(|(_, path)| self.read_folder_of(path));
    }

    fn read_folder_of(&mut self, path: &Path) {
        self.readable.extend(path.parent().map(Path::to_path_buf));
    }

    fn write_folder_of(&mut self, path: &Path) {
        self.writable.extend(path.parent().map(Path::to_path_buf));
    }

    /// With a worker's own folder for temporary files.
    pub fn confinement(&self, scratch: &Path) -> Confinement {
        let devices = DEVICES.into_iter().map(PathBuf::from).chain(self.devices());
        let writable: Vec<PathBuf> = self.writable.iter().cloned().chain([scratch.into()]).chain(devices).collect();
        let system = SYSTEM.into_iter().map(PathBuf::from);
        let readable = self.readable.iter().chain(&writable).cloned().chain(system).collect();
        Confinement { mode: self.sandbox.mode, writable, readable, network: self.sandbox.network }
    }

    fn devices(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let found = |pattern: &String| glob::glob(pattern).into_iter().flatten().flatten().collect::<Vec<_>>();
        self.sandbox.devices.iter().flat_map(found)
    }
}

fn libraries(command: &Command) -> Vec<&Library> {
    match command {
        Command::Describe { library } | Command::Build { library, .. } => vec![library],
        Command::Devices { backend } | Command::Inspect { backend, .. } => vec![&backend.library],
        Command::Reference(job) => vec![&job.backend.library],
        Command::Cell(job) => vec![&job.backend.library, &job.benchmark_library],
        Command::Permit(_) => vec![],
        Command::Function(job) => vec![&job.library],
        Command::Profile(job) => vec![&job.backend.library],
        Command::Ladder(job) => vec![&job.backend.library],
        Command::Fuzz(job) => vec![&job.backend.library],
        Command::Check(job) => {
            std::iter::once(&job.library).chain(job.backend.as_ref().map(|backend| &backend.library)).collect()
        }
    }
}
