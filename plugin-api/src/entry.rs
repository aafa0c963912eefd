//! The second entry: an `abi_stable` root module that leads to the same C table.
//!
//! The root is frozen: the ABI major and one opaque pointer. The tables stay out of `abi_stable`'s layout check, because it
//! would take a table with one more field for a foreign one; they grow by their own `size`.

use crate::raw::{SB_ABI_MAJOR, sb_plugin};
use abi_stable::StableAbi;
use abi_stable::library::{LibraryError, RootModule};
use abi_stable::package_version_strings;
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_types::{RRef, VersionStrings};

/// The root module of a Rust plugin.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = RootRef, prefix_fields = RootPrefix)))]
#[sabi(missing_field(panic))]
pub struct Root {
    pub abi_major: u32,
    /// The library's `skillbench_plugin`.
    #[sabi(last_prefix_field)]
    pub table: RRef<'static, ()>,
}

impl RootModule for RootRef {
    abi_stable::declare_root_module_statics! {RootRef}
    const BASE_NAME: &'static str = "skillbench_plugin";
    const NAME: &'static str = "skillbench plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// The root of a plugin whose table this is.
#[doc(hidden)]
pub fn root(table: &'static sb_plugin) -> RootRef {
    // SAFETY: the table is static, and the pointer is only ever read as what it was made from.
    let table = unsafe { RRef::from_raw((&raw const *table).cast::<()>()) };
    Root { abi_major: SB_ABI_MAJOR, table }.leak_into_prefix()
}

/// What `abi_stable` says of a root that does not fit is pages long; its last `Error:` block says what is wrong.
pub fn short_error(error: &LibraryError) -> String {
    let text = error.to_string();
    let block = text.rsplit("Error:").next().unwrap_or(&text);
    let lines: Vec<&str> = block.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
    let mut short = lines.join(" ");
    if let Some((end, _)) = short.char_indices().nth(300) {
        short.truncate(end);
        short.push_str(" ...");
    }
    short
}

/// Exports the entry to a table. Part of [`export_plugin!`](crate::export_plugin).
#[doc(hidden)]
#[macro_export]
macro_rules! export_door {
    ($table:ident) => {
        const _: () = {
            use $crate::__private::abi_stable::library::{
                __call_root_module_loader, CheckTypeLayout, LibHeader, RootModuleResult,
            };

            fn root() -> $crate::entry::RootRef {
                $crate::entry::root(&$table)
            }

            extern "C" fn construct() -> RootModuleResult {
                __call_root_module_loader(root)
            }

            // The name that abi_stable 0.11 looks up (`ROOT_MODULE_LOADER_NAME`); a test holds the two together.
            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            #[doc(hidden)]
            pub static SKILLBENCH_DOOR: LibHeader =
                // SAFETY: `construct` returns a RootRef with its type erased by abi_stable itself.
                unsafe { LibHeader::from_constructor::<$crate::entry::RootRef>(construct, CheckTypeLayout::Yes) };
        };
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_door_has_the_name_that_abi_stable_looks_up() {
        assert_eq!(abi_stable::library::ROOT_MODULE_LOADER_NAME, "_1as_0lib_1header_0root_bmodule_bloader");
    }
}
