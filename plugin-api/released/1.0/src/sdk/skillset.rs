//! A skillset: which models there are, and their graphs.

use super::Host;
use crate::error::guarded;
use crate::raw::*;
use crate::{Error, Options, Result, text};
use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;
use std::path::Path;

/// Describes and builds models.
pub trait Skillset: 'static {
    const ID: &'static CStr;
    const SUMMARY: &'static CStr;

    /// One JSON object for each skill; `skillbench.h` names its fields.
    fn descriptions() -> &'static [CString];

    /// Writes `skill.json`, graphs and weights of a skill into an empty folder.
    ///
    /// # Errors
    /// `NotFound` for a skill that is not described; otherwise what went wrong in writing.
    fn build(host: Host, skill: &str, options: &Options, directory: &Path) -> Result<()>;
}

/// The table of a skillset, ready to be a `static`.
pub struct SkillsetTable<S>(PhantomData<S>);

impl<S: Skillset> SkillsetTable<S> {
    pub const TABLE: sb_skillset = sb_skillset {
        size: size_of::<sb_skillset>() as u32,
        flags: 0,
        id: S::ID.as_ptr(),
        summary: S::SUMMARY.as_ptr(),
        count: Some(count::<S>),
        describe: Some(describe::<S>),
        build: Some(build::<S>),
    };
}

/// The descriptions, or none where making them panics.
fn descriptions<S: Skillset>() -> &'static [CString] {
    std::panic::catch_unwind(S::descriptions).unwrap_or(&[])
}

unsafe extern "C" fn count<S: Skillset>() -> u32 {
    descriptions::<S>().len() as u32
}

unsafe extern "C" fn describe<S: Skillset>(index: u32) -> *const c_char {
    descriptions::<S>().get(index as usize).map_or(std::ptr::null(), |text| text.as_ptr())
}

unsafe extern "C" fn build<S: Skillset>(
    host: *const sb_host,
    skill: *const c_char,
    options: *const sb_options,
    directory: *const c_char,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: strings and options live through the call.
    unsafe {
        guarded(error, || {
            let skill = text::borrow(skill).ok_or_else(|| Error::invalid("no skill was named"))?;
            let directory = text::borrow(directory).ok_or_else(|| Error::invalid("no folder was named"))?;
            S::build(Host::new(host), &skill, &Options::from_raw(options), Path::new(&*directory))
        })
    }
}
