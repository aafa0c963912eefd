//! What may grow behind the door, held by `abi_stable`'s own check: the layouts here are copies of one root, each of another age.

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::check_layout_compatibility;
use abi_stable::std_types::{RStr, RString};

/// A root of the same names, whose functions are those given.
macro_rules! root {
    ($age:ident { $($first:ident: $first_type:ty),* ; $($later:ident: $later_type:ty),* $(,)? }) => {
        #[allow(dead_code, reason = "their layouts are compared, and nothing is called")]
        mod $age {
            use super::*;

            #[repr(C)]
            #[derive(StableAbi)]
            #[sabi(kind(Prefix(prefix_ref = RootRef, prefix_fields = RootPrefix)))]
            #[sabi(missing_field(panic))]
            pub struct Root {
                $(pub $first: $first_type,)*
                #[sabi(last_prefix_field)]
                pub last: extern "C" fn() -> u32,
                $(pub $later: $later_type,)*
            }
        }
    };
}

root! { before { id: RStr<'static> ; } }
root! { today { id: RStr<'static> ; added: extern "C" fn(RString) -> u32 } }
root! { after { id: RStr<'static> ; added: extern "C" fn(RString) -> u32, more: extern "C" fn() } }
root! { changed { id: RStr<'static> ; added: extern "C" fn(u64) -> u32 } }

/// Whether a host of one age takes a plugin of another.
fn takes<Host: StableAbi, Plugin: StableAbi>() -> Result<(), String> {
    check_layout_compatibility(Host::LAYOUT, Plugin::LAYOUT).map_err(|error| error.to_string())
}

#[test]
fn a_host_takes_roots_with_functions_that_it_does_not_know() {
    takes::<today::RootRef, today::RootRef>().unwrap();
    takes::<today::RootRef, after::RootRef>().unwrap();
    takes::<before::RootRef, after::RootRef>().unwrap();
}

#[test]
fn an_older_root_is_taken_only_as_what_it_is() {
    takes::<today::RootRef, before::RootRef>().unwrap_err();
    takes::<before::RootRef, before::RootRef>().unwrap();
}

#[test]
fn a_function_that_takes_something_else_is_refused() {
    takes::<today::RootRef, changed::RootRef>().unwrap_err();
    takes::<changed::RootRef, after::RootRef>().unwrap_err();
}
