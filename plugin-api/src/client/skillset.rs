//! A skillset's table.

use crate::error::checked;
use crate::host_tables::HostTable;
use crate::raw::*;
use crate::sdk::{Skillset, SkillsetTable};
use crate::{Error, Options, Result, abi_size, text};
use std::path::Path;

#[derive(Clone, Copy)]
pub struct SkillsetRef(sb_skillset);

impl SkillsetRef {
    /// # Safety
    /// `table` is null or a skillset's static table.
    pub(super) unsafe fn new(table: *const sb_skillset) -> Result<SkillsetRef> {
        // SAFETY: the caller promises it.
        let raw = unsafe { abi_size::read(table) }.ok_or_else(|| Error::invalid("the skillset's table is null"))?;
        match raw.count.is_some() && raw.describe.is_some() && raw.build.is_some() {
            true => Ok(SkillsetRef(raw)),
            false => Err(Error::invalid("the skillset's table has no `count`, `describe` or `build`")),
        }
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
        // SAFETY: a string of a static table.
        unsafe { text::borrow(self.0.id) }.unwrap_or_default().into_owned()
    }

    pub fn summary(&self) -> String {
        // SAFETY: a string of a static table.
        unsafe { text::borrow(self.0.summary) }.unwrap_or_default().into_owned()
    }

    /// Each skill's description, as JSON.
    pub fn descriptions(&self) -> Vec<String> {
        let (Some(count), Some(describe)) = (self.0.count, self.0.describe) else { return vec![] };
        // SAFETY: [any]; descriptions live as long as the library.
        unsafe {
            (0..count()).filter_map(|index| text::borrow(describe(index))).map(|text| text.into_owned()).collect()
        }
    }

    /// # Errors
    /// Whatever the plugin says.
    pub fn build(&self, host: &'static HostTable, skill: &str, options: &Options, directory: &Path) -> Result<()> {
        let Some(build) = self.0.build else { return Err(Error::invalid("the skillset cannot build")) };
        let (skill, directory) = (text::c_string(skill), text::c_string(&directory.to_string_lossy()));
        options.lend(|options| {
            // SAFETY: [any]; everything lent lives through the call.
            checked(|error| unsafe { build(host.as_ptr(), skill.as_ptr(), options, directory.as_ptr(), error) })
        })
    }
}
