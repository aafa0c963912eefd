//! A plugin's library and its opened backend, with the times both took.

use super::{Observing, Services};
use crate::loader;
use crate::{Chosen, DeviceRecord, Failure, FailureKind, Library, PluginUse, Stage, devices};
use skillbench_plugin_api::client::{BackendRef, Instance, Plugin};
use skillbench_plugin_api::{Device, Options};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

pub(crate) struct Opened {
    pub services: &'static Services,
    pub instance: Instance,
    pub devices: Vec<Device>,
    pub import_ns: u64,
    pub instantiate_ns: u64,
}

/// Loads a library and calls its `init`. What was sealed is looked at before, and again after: what was opened in between is the same.
pub(crate) fn import(services: &'static Services, library: &Library) -> Result<(Plugin, loader::Entry), Failure> {
    library.check()?;
    services.enter(Stage::Import);
    let at = |code: &str, text: String| Failure::failed(code, format!("{}: {text}", library.display()));
    let (plugin, entry) = loader::load(library).map_err(|error| at("not-a-plugin", error.to_string()))?;
    library.check()?;
    let init = services.within("init", || plugin.init(services.table(), library));
    init.map_err(|error| at(error.code.name(), format!("init: {error}")))?;
    Ok((plugin, entry))
}

/// Imports a library, and asks it for its backend.
fn table(services: &'static Services, backend: &PluginUse) -> Result<BackendRef, Failure> {
    let (plugin, _) = import(services, &backend.library)?;
    let table = services.within("factory", || plugin.backend()).map_err(|error| Failure::from_plugin(&error))?;
    table.ok_or_else(|| Failure::failed("no-backend", format!("plugin '{}' is no backend", backend.id)))
}

impl Opened {
    pub(crate) fn new(services: &'static Services, backend: &PluginUse) -> Result<Opened, Failure> {
        let start = Instant::now();
        let table = table(services, backend)?;
        Opened::with(services, backend, &table, start)
    }

    /// As [`Opened::new`], for a backend whose slots tell of each call: nothing of it may be timed for a figure. It may be opened again
    /// and again; its library is imported, and its `init` called, the first time.
    pub(crate) fn observed(services: &'static Services, backend: &PluginUse) -> Result<Opened, Failure> {
        static IMPORTED: OnceLock<(PathBuf, BackendRef)> = OnceLock::new();
        let start = Instant::now();
        let path = &backend.library.path;
        if let Some((_, table)) = IMPORTED.get().filter(|(imported, _)| imported == path) {
            return Opened::with(services, backend, table, start);
        }
        let table = table(services, backend)?.observed(Observing::of(services));
        let (_, table) = IMPORTED.get_or_init(|| (path.clone(), table));
        Opened::with(services, backend, table, start)
    }

    fn with(
        services: &'static Services,
        backend: &PluginUse,
        table: &BackendRef,
        start: Instant,
    ) -> Result<Opened, Failure> {
        let import_ns = start.elapsed().as_nanos() as u64;

        services.enter(Stage::Open);
        let start = Instant::now();
        let instance = table.open(services.table(), &Options(backend.options.clone()));
        let instance = instance.map_err(|error| Failure::from_plugin(&error))?;
        let instantiate_ns = start.elapsed().as_nanos() as u64;
        backend.library.check()?;
        let devices = instance.devices().map_err(|error| Failure::from_plugin(&error))?;
        Ok(Opened { services, instance, devices, import_ns, instantiate_ns })
    }

    /// The devices that are asked for.
    ///
    /// # Errors
    /// `Unavailable`: there is no such device, or it cannot be used, and why.
    pub(crate) fn choose(&self, asked: Option<&str>) -> Result<Chosen, Failure> {
        let unavailable = |text: String| Failure::new(FailureKind::Unavailable, "device", text);
        let records: Vec<DeviceRecord> = self.devices.iter().map(DeviceRecord::from).collect();
        let chosen = devices::choose(asked, &records).map_err(unavailable)?;
        match chosen.device.usable {
            true => Ok(chosen),
            false => Err(unavailable(format!("device {} cannot be used: {}", chosen.device.id, chosen.device.reason))),
        }
    }
}

/// A crash while it is closed is told as that.
impl Drop for Opened {
    fn drop(&mut self) {
        self.services.enter(Stage::Close);
    }
}
