//! The second door of a plugin in Rust: a typed `abi_stable` root module in place of the C table.
//!
//! A plugin implements the traits of `skillbench_plugin_api::sdk`, as for the C door, and lists them in this crate's [`export_plugin!`].
//! Its library then exports nothing but the root module.
//!
//! - [`abi`]: what crosses: the root, the objects (`sabi_trait`) and the values. `abi_stable` holds the layout of each against the host's
//!   before anything is called.
//! - [`plugin`]: the plugin's side: the root of a plugin that implements the SDK's traits.
//! - [`host`]: the host's side: a root as the same `client::Plugin` that the C door gives.
//! - `served` and `through`: the SDK's models and requests as objects, and objects as a backend of the SDK. Both sides need both: a backend
//!   serves its models to the host, and the host serves those of a target to a benchmark.
//!
//! Not here: opening libraries (the worker does), and any rule that the C door does not have.
//!
//! # Growth
//! Values are frozen. The root and the objects only get functions appended, below `last_prefix_field`: a host takes a plugin that has
//! more functions than it knows. `abi_stable` refuses one that has fewer; so whoever appends keeps the older root beside the newer one,
//! and [`host::plugin`] asks for the newest first.

pub mod abi;
pub mod host;
pub mod plugin;
mod served;
mod through;

pub use skillbench_plugin_api as api;

/// What [`export_plugin!`] expands to needs these; nobody else does.
#[doc(hidden)]
pub mod __private {
    pub use abi_stable::library::{
        __call_root_module_loader as call_loader, CheckTypeLayout, LibHeader, RootModuleResult,
    };
}

/// Exports a plugin through the `abi_stable` door alone. The parts are those of `skillbench_plugin_api::export_plugin!`:
///
/// ```
/// use skillbench_plugin_stable::api::sdk::Metrics;
///
/// fn run_sum() -> Metrics {
///     let sum: u64 = std::hint::black_box(0..1_000).sum();
///     std::hint::black_box(sum);
///     Metrics::new().items(1_000)
/// }
///
/// skillbench_plugin_stable::export_plugin! {
///     id: "mine",
///     name: "My benchmarks",
///     vendor: "Me",
///     functions: [run_sum],
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_plugin {
    ($($plugin:tt)*) => {
        const _: () = {
            $crate::api::plugin_table! { [] SKILLBENCH_TABLE $($plugin)* }

            struct Exported;

            impl $crate::plugin::Exported for Exported {
                fn table() -> &'static raw::sb_plugin {
                    &SKILLBENCH_TABLE
                }
            }

            extern "C" fn construct() -> $crate::__private::RootModuleResult {
                $crate::__private::call_loader($crate::plugin::root::<Exported>)
            }

            // The name that abi_stable 0.11 looks up (`ROOT_MODULE_LOADER_NAME`); a test holds the two together.
            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            #[doc(hidden)]
            pub static SKILLBENCH_ROOT: $crate::__private::LibHeader =
                // SAFETY: `construct` returns a RootRef with its type erased by abi_stable itself.
                unsafe {
                    $crate::__private::LibHeader::from_constructor::<$crate::abi::RootRef>(
                        construct,
                        $crate::__private::CheckTypeLayout::Yes,
                    )
                };
        };
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_root_has_the_name_that_abi_stable_looks_up() {
        assert_eq!(abi_stable::library::ROOT_MODULE_LOADER_NAME, "_1as_0lib_1header_0root_bmodule_bloader");
    }
}
