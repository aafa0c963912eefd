//! The root table of a plugin.

use super::{BackendRef, BenchmarkRef, SkillsetRef};
use crate::error::checked;
use crate::host_tables::HostTable;
use crate::raw::*;
use crate::{Error, Result, abi_size, text};
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

/// A plugin whose library is loaded, and stays so until the process ends.
#[derive(Clone)]
pub struct Plugin(Door);

#[derive(Clone)]
enum Door {
    Table(sb_plugin),
    Values(Arc<PluginParts>),
}

/// A plugin that has no table: what it says and offers, as values.
pub struct PluginParts {
    pub id: String,
    pub name: String,
    pub version: String,
    pub vendor: String,
    pub license: String,
    pub url: String,
    pub init: Initialize,
    pub backend: Option<BackendRef>,
    pub skillset: Option<SkillsetRef>,
    pub benchmarks: Vec<BenchmarkRef>,
}

/// What is called once after loading, with the library's path.
pub type Initialize = Box<dyn Fn(&'static HostTable, &Path) -> Result<()> + Send + Sync>;

impl Plugin {
    /// # Errors
    /// `InvalidArgument` for an id in a wrong form.
    pub fn of(parts: PluginParts) -> Result<Plugin> {
        Plugin(Door::Values(Arc::new(parts))).named()
    }

    /// # Errors
    /// `InvalidArgument` for another ABI major, a table too short to hold an id and a factory, an id in a wrong form.
    ///
    /// # Safety
    /// `table` is null or the `skillbench_plugin` of a library that is never unloaded.
    pub unsafe fn new(table: *const sb_plugin) -> Result<Plugin> {
        // SAFETY: the caller promises it.
        let raw = unsafe { abi_size::read(table) }.ok_or_else(|| Error::invalid("skillbench_plugin is null"))?;
        if raw.abi_major != SB_ABI_MAJOR {
            let text = format!(
                "built for ABI major {}, this host speaks {SB_ABI_MAJOR}: build it against this host's skillbench.h",
                raw.abi_major
            );
            return Err(Error::invalid(text));
        }
        if raw.factory.is_none() {
            let text = match (raw.size as usize) < size_of::<sb_plugin>() {
                true => format!("skillbench_plugin has {} bytes, too few to reach its factory", raw.size),
                false => "the factory of skillbench_plugin is NULL: nothing can be asked for".into(),
            };
            return Err(Error::invalid(text));
        }
        Plugin(Door::Table(raw)).named()
    }

    fn named(self) -> Result<Plugin> {
        let id = self.id();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match !id.is_empty() && id.chars().all(allowed) {
            true => Ok(self),
            false => Err(Error::invalid(format!("the plugin's id '{id}' is not made of a-z, 0-9 and '-'"))),
        }
    }

    pub fn id(&self) -> String {
        self.text(|table| table.id, |parts| &parts.id)
    }

    pub fn name(&self) -> String {
        self.text(|table| table.name, |parts| &parts.name)
    }

    pub fn version(&self) -> String {
        self.text(|table| table.version, |parts| &parts.version)
    }

    pub fn vendor(&self) -> String {
        self.text(|table| table.vendor, |parts| &parts.vendor)
    }

    pub fn license(&self) -> String {
        self.text(|table| table.license, |parts| &parts.license)
    }

    pub fn url(&self) -> String {
        self.text(|table| table.url, |parts| &parts.url)
    }

    fn text(
        &self,
        of_table: impl Fn(&sb_plugin) -> *const std::ffi::c_char,
        of_parts: impl Fn(&PluginParts) -> &String,
    ) -> String {
        match &self.0 {
            // SAFETY: a string of the table lives as long as the library.
            Door::Table(table) => unsafe { text::borrow(of_table(table)) }.unwrap_or_default().into_owned(),
            Door::Values(parts) => of_parts(parts).clone(),
        }
    }

    /// Calls the plugin's `init`, once, on the control thread.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn init(&self, host: &'static HostTable, path: &Path) -> Result<()> {
        let table = match &self.0 {
            Door::Table(table) => table,
            Door::Values(parts) => return (parts.init)(host, path),
        };
        let Some(init) = table.init else { return Ok(()) };
        let path = text::c_string(&path.to_string_lossy());
        // SAFETY: [main], see above; host and path are valid.
        checked(|error| unsafe { init(host.as_ptr(), path.as_ptr(), error) })
    }

    /// # Errors
    /// `InvalidArgument` for a backend's table without a slot that every backend has.
    pub fn backend(&self) -> Result<Option<BackendRef>> {
        let table: *const sb_backend = match &self.0 {
            Door::Table(table) => factory(table, SB_BACKEND).cast(),
            Door::Values(parts) => return Ok(parts.backend.clone()),
        };
        // SAFETY: what the factory returns for this id is a static sb_backend.
        (!table.is_null()).then(|| unsafe { BackendRef::new(table) }).transpose()
    }

    /// # Errors
    /// `InvalidArgument` for an incomplete table.
    pub fn skillset(&self) -> Result<Option<SkillsetRef>> {
        let table: *const sb_skillset = match &self.0 {
            Door::Table(table) => factory(table, SB_SKILLSET).cast(),
            Door::Values(parts) => return Ok(parts.skillset.clone()),
        };
        // SAFETY: what the factory returns for this id is a static sb_skillset.
        (!table.is_null()).then(|| unsafe { SkillsetRef::new(table) }).transpose()
    }

    /// # Errors
    /// `InvalidArgument` for an incomplete table.
    pub fn benchmarks(&self) -> Result<Vec<BenchmarkRef>> {
        let table: *const sb_benchmarks = match &self.0 {
            Door::Table(table) => factory(table, SB_BENCHMARKS).cast(),
            Door::Values(parts) => return Ok(parts.benchmarks.clone()),
        };
        // SAFETY: what the factory returns for this id is a static sb_benchmarks.
        let Some(table) = (unsafe { abi_size::read(table) }) else { return Ok(vec![]) };
        let (Some(count), Some(at)) = (table.count, table.at) else {
            return Err(Error::invalid("the table of benchmarks has no `count` or no `at`"));
        };
        // SAFETY: [any]; an index below the count.
        unsafe { (0..count()).map(|index| BenchmarkRef::new(at(index))).collect() }
    }
}

fn factory(table: &sb_plugin, id: &str) -> *const c_void {
    let id = text::c_string(id);
    // SAFETY: [any]; the string lives through the call.
    table.factory.map_or(std::ptr::null(), |factory| unsafe { factory(id.as_ptr()) })
}
