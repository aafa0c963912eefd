//! The root table of a plugin.

use super::{BackendRef, BenchmarkRef, SkillsetRef};
use crate::error::checked;
use crate::host_tables::HostTable;
use crate::raw::*;
use crate::{Error, Result, abi_size, text};
use std::ffi::c_void;
use std::path::Path;

/// A plugin whose library is loaded, and stays so until the process ends.
#[derive(Clone, Copy)]
pub struct Plugin(sb_plugin);

impl Plugin {
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
        let plugin = Plugin(raw);
        let id = plugin.id();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match !id.is_empty() && id.chars().all(allowed) {
            true => Ok(plugin),
            false => Err(Error::invalid(format!("the plugin's id '{id}' is not made of a-z, 0-9 and '-'"))),
        }
    }

    pub fn id(&self) -> String {
        self.text(self.0.id)
    }

    pub fn name(&self) -> String {
        self.text(self.0.name)
    }

    pub fn version(&self) -> String {
        self.text(self.0.version)
    }

    pub fn vendor(&self) -> String {
        self.text(self.0.vendor)
    }

    pub fn license(&self) -> String {
        self.text(self.0.license)
    }

    pub fn url(&self) -> String {
        self.text(self.0.url)
    }

    fn text(&self, text: *const std::ffi::c_char) -> String {
        // SAFETY: a string of the table lives as long as the library.
        unsafe { text::borrow(text) }.unwrap_or_default().into_owned()
    }

    /// Calls the plugin's `init`, once, on the control thread.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn init(&self, host: &'static HostTable, path: &Path) -> Result<()> {
        let Some(init) = self.0.init else { return Ok(()) };
        let path = text::c_string(&path.to_string_lossy());
        // SAFETY: [main], see above; host and path are valid.
        checked(|error| unsafe { init(host.as_ptr(), path.as_ptr(), error) })
    }

    fn factory(&self, id: &str) -> *const c_void {
        let id = text::c_string(id);
        // SAFETY: [any]; the string lives through the call.
        self.0.factory.map_or(std::ptr::null(), |factory| unsafe { factory(id.as_ptr()) })
    }

    /// # Errors
    /// `InvalidArgument` for a backend's table without a slot that every backend has.
    pub fn backend(&self) -> Result<Option<BackendRef>> {
        let table: *const sb_backend = self.factory(SB_BACKEND).cast();
        // SAFETY: what the factory returns for this id is a static sb_backend.
        (!table.is_null()).then(|| unsafe { BackendRef::new(table) }).transpose()
    }

    /// # Errors
    /// `InvalidArgument` for an incomplete table.
    pub fn skillset(&self) -> Result<Option<SkillsetRef>> {
        let table: *const sb_skillset = self.factory(SB_SKILLSET).cast();
        // SAFETY: what the factory returns for this id is a static sb_skillset.
        (!table.is_null()).then(|| unsafe { SkillsetRef::new(table) }).transpose()
    }

    /// # Errors
    /// `InvalidArgument` for an incomplete table.
    pub fn benchmarks(&self) -> Result<Vec<BenchmarkRef>> {
        let table: *const sb_benchmarks = self.factory(SB_BENCHMARKS).cast();
        // SAFETY: what the factory returns for this id is a static sb_benchmarks.
        let Some(table) = (unsafe { abi_size::read(table) }) else { return Ok(vec![]) };
        let (Some(count), Some(at)) = (table.count, table.at) else {
            return Err(Error::invalid("the table of benchmarks has no `count` or no `at`"));
        };
        // SAFETY: [any]; an index below the count.
        unsafe { (0..count()).map(|index| BenchmarkRef::new(at(index))).collect() }
    }
}
