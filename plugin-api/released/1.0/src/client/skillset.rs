//! A skillset's table.

use crate::error::checked;
use crate::host_tables::HostTable;
use crate::raw::*;
use crate::sdk::{Host, Skillset, SkillsetTable};
use crate::{Error, Options, Result, abi_size, text};
use std::path::Path;
use std::sync::Arc;

#[derive(Clone)]
pub struct SkillsetRef(Kind);

#[derive(Clone)]
enum Kind {
    Table(sb_skillset),
    Value(Arc<dyn SkillsetValue>),
}

/// A skillset that has no table.
pub trait SkillsetValue: Send + Sync {
    fn id(&self) -> String;
    fn summary(&self) -> String;
    fn descriptions(&self) -> Vec<String>;
    /// # Errors
    /// Whatever the plugin says.
    fn build(&self, host: Host, skill: &str, options: &Options, directory: &Path) -> Result<()>;
}

impl SkillsetRef {
    /// # Safety
    /// `table` is null or a skillset's static table.
    pub(super) unsafe fn new(table: *const sb_skillset) -> Result<SkillsetRef> {
        // SAFETY: the caller promises it.
        let raw = unsafe { abi_size::read(table) }.ok_or_else(|| Error::invalid("the skillset's table is null"))?;
        match raw.count.is_some() && raw.describe.is_some() && raw.build.is_some() {
            true => Ok(SkillsetRef(Kind::Table(raw))),
            false => Err(Error::invalid("the skillset's table has no `count`, `describe` or `build`")),
        }
    }

    pub fn of(skillset: impl SkillsetValue + 'static) -> SkillsetRef {
        SkillsetRef(Kind::Value(Arc::new(skillset)))
    }

    /// A skillset that is linked into this program, behind the same table as a loaded one: for the tests of a plugin.
    ///
    /// # Errors
    /// None that a skillset of the SDK can cause.
    pub fn linked<S: Skillset>() -> Result<SkillsetRef> {
        // SAFETY: the SDK's own table, which is static.
        unsafe { SkillsetRef::new(const { &SkillsetTable::<S>::TABLE }) }
    }

    pub fn id(&self) -> String {
        match &self.0 {
            // SAFETY: a string of a static table.
            Kind::Table(table) => unsafe { text::borrow(table.id) }.unwrap_or_default().into_owned(),
            Kind::Value(value) => value.id(),
        }
    }

    pub fn summary(&self) -> String {
        match &self.0 {
            // SAFETY: a string of a static table.
            Kind::Table(table) => unsafe { text::borrow(table.summary) }.unwrap_or_default().into_owned(),
            Kind::Value(value) => value.summary(),
        }
    }

    /// Each skill's description, as JSON.
    pub fn descriptions(&self) -> Vec<String> {
        let table = match &self.0 {
            Kind::Table(table) => table,
            Kind::Value(value) => return value.descriptions(),
        };
        let (Some(count), Some(describe)) = (table.count, table.describe) else { return vec![] };
        // SAFETY: [any]; descriptions live as long as the library.
        unsafe {
            (0..count()).filter_map(|index| text::borrow(describe(index))).map(|text| text.into_owned()).collect()
        }
    }

    /// # Errors
    /// Whatever the plugin says.
    pub fn build(&self, host: &'static HostTable, skill: &str, options: &Options, directory: &Path) -> Result<()> {
        let table = match &self.0 {
            Kind::Table(table) => table,
            Kind::Value(value) => return value.build(host.services(), skill, options, directory),
        };
        let Some(build) = table.build else { return Err(Error::invalid("the skillset cannot build")) };
        let (skill, directory) = (text::c_string(skill), text::c_string(&directory.to_string_lossy()));
        options.lend(|options| {
            // SAFETY: [any]; everything lent lives through the call.
            checked(|error| unsafe { build(host.as_ptr(), skill.as_ptr(), options, directory.as_ptr(), error) })
        })
    }
}
