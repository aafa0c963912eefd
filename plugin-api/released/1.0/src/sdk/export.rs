//! `export_plugin!`: the one exported symbol.

use crate::raw::{sb_benchmark, sb_benchmarks, sb_plugin};

/// What the macro needs from a plugin's tables.
pub struct Exports;

impl Exports {
    pub const fn benchmarks(
        count: unsafe extern "C" fn() -> u32,
        at: unsafe extern "C" fn(u32) -> *const sb_benchmark,
    ) -> sb_benchmarks {
        sb_benchmarks { size: size_of::<sb_benchmarks>() as u32, flags: 0, count: Some(count), at: Some(at) }
    }

    pub const PLUGIN_SIZE: u32 = size_of::<sb_plugin>() as u32;
}

/// A literal that ends with NUL, as C text.
pub const fn terminated(text: &'static str) -> *const std::ffi::c_char {
    match std::ffi::CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text.as_ptr(),
        Err(_) => panic!("a name of the plugin has a NUL inside"),
    }
}

/// Exports a plugin: `skillbench_plugin`, the C table.
///
/// ```
/// # use skillbench_plugin_api::{Options, Result, sdk::{Host, Skillset}};
/// # use std::{ffi::{CStr, CString}, path::Path};
/// struct Nothing;
///
/// impl Skillset for Nothing {
///     const ID: &'static CStr = c"nothing";
///     const SUMMARY: &'static CStr = c"A skillset without skills";
///     fn descriptions() -> &'static [CString] {
///         &[]
///     }
///     fn build(_: Host, _: &str, _: &Options, _: &Path) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// skillbench_plugin_api::export_plugin! {
///     id: "nothing",
///     name: "Nothing",
///     vendor: "Nobody",
///     skillset: Nothing,
/// }
/// # fn main() {}
/// ```
///
/// The parts, each optional, in this order: `backend: Type`, `skillset: Type`, `benchmarks: [Type, ..]`,
/// `functions: [run_something, ..]`. Version, licence and address come from the crate's `Cargo.toml`.
///
/// # Functions
///
/// Any function without arguments whose name begins with `run_` or `benchmark_` is a benchmark as soon as it is listed. It returns
/// [`Metrics`](crate::sdk::Metrics), nothing, or a `Result` of either. The host calls it as often as it takes, and times each call.
///
/// ```
/// use skillbench_plugin_api::sdk::Metrics;
///
/// fn run_sum() -> Metrics {
///     let sum: u64 = std::hint::black_box(0..1_000).sum();
///     std::hint::black_box(sum);
///     Metrics::new().items(1_000)
/// }
///
/// fn benchmark_config_file() -> Result<(), std::io::Error> {
///     std::fs::metadata(".").map(drop)
/// }
///
/// skillbench_plugin_api::export_plugin! {
///     id: "mine",
///     name: "My benchmarks",
///     vendor: "Me",
///     functions: [
///         run_sum,
///         benchmark_config_file { category: "integration", version: "2", summary: "Looks for a file" },
///     ],
/// }
/// # fn main() {}
/// ```
///
/// A name that begins otherwise, or a category that is none, does not compile:
///
/// ```compile_fail,E0080
/// fn sum() {}
///
/// skillbench_plugin_api::export_plugin! { id: "mine", name: "Mine", vendor: "Me", functions: [sum], }
/// # fn main() {}
/// ```
///
/// ```compile_fail,E0080
/// fn run_sum() {}
///
/// skillbench_plugin_api::export_plugin! {
///     id: "mine",
///     name: "Mine",
///     vendor: "Me",
///     functions: [run_sum { category: "speed" }],
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_plugin {
    ($($plugin:tt)*) => {
        const _: () = {
            $crate::plugin_table! { [#[unsafe(no_mangle)]] skillbench_plugin $($plugin)* }
        };
    };
}

/// The table of a plugin as a static of that name, with these attributes. Part of [`export_plugin!`](crate::export_plugin).
#[doc(hidden)]
#[macro_export]
macro_rules! plugin_table {
    (
        [$($attribute:tt)*] $table:ident
        id: $id:literal,
        name: $name:literal,
        vendor: $vendor:literal,
        $(backend: $backend:ty,)?
        $(skillset: $skillset:ty,)?
        $(benchmarks: [$($benchmark:ty),+ $(,)?],)?
        $(functions: [$($function:path $({ $($key:ident: $value:literal),* $(,)? })?),+ $(,)?],)?
    ) => {
        use $crate::raw;
        use ::std::ffi::{CStr, c_char, c_void};

        $(
            static BACKEND: raw::sb_backend = $crate::sdk::BackendTable::<$backend>::TABLE;
        )?
        $(
            static SKILLSET: raw::sb_skillset = $crate::sdk::SkillsetTable::<$skillset>::TABLE;
        )?
        static BENCHMARK: &[raw::sb_benchmark] = &[
            $($($crate::sdk::benchmark_table::<$benchmark>(),)+)?
            $($({
                const _: () = assert!(
                    $crate::sdk::is_function_name(stringify!($function)),
                    concat!("`", stringify!($function), "`: the name of a benchmark function begins with `run_` or `benchmark_`")
                );

                struct Listed {}

                impl $crate::sdk::Function for Listed {
                    const DETAILS: $crate::sdk::FunctionDetails = $crate::sdk::FunctionDetails::new(
                        concat!(stringify!($function), "\0"),
                        concat!(env!("CARGO_PKG_VERSION"), "\0"),
                    )
                    $($(.$key(concat!($value, "\0")))*)?;

                    fn call() -> $crate::Result<$crate::sdk::Metrics> {
                        $crate::sdk::IntoMetrics::into_metrics($function())
                    }
                }

                $crate::sdk::benchmark_table::<$crate::sdk::FunctionBenchmark<Listed>>()
            },)+)?
        ];
        static BENCHMARKS: raw::sb_benchmarks = $crate::sdk::Exports::benchmarks(count, at);

        unsafe extern "C" fn count() -> u32 {
            BENCHMARK.len() as u32
        }

        unsafe extern "C" fn at(index: u32) -> *const raw::sb_benchmark {
            BENCHMARK.get(index as usize).map_or(::std::ptr::null(), |table| table)
        }

        unsafe extern "C" fn factory(id: *const c_char) -> *const c_void {
            if id.is_null() {
                return ::std::ptr::null();
            }
            // SAFETY: the contract: a NUL-terminated string.
            let id = unsafe { CStr::from_ptr(id) }.to_bytes();
            $(
                let _: ::std::marker::PhantomData<$backend>;
                if id == raw::SB_BACKEND.as_bytes() {
                    return (&raw const BACKEND).cast();
                }
            )?
            $(
                let _: ::std::marker::PhantomData<$skillset>;
                if id == raw::SB_SKILLSET.as_bytes() {
                    return (&raw const SKILLSET).cast();
                }
            )?
            if id == raw::SB_BENCHMARKS.as_bytes() && !BENCHMARK.is_empty() {
                return (&raw const BENCHMARKS).cast();
            }
            ::std::ptr::null()
        }

        $($attribute)*
        #[allow(non_upper_case_globals)]
        pub static $table: raw::sb_plugin = raw::sb_plugin {
            size: $crate::sdk::Exports::PLUGIN_SIZE,
            abi_major: raw::SB_ABI_MAJOR,
            id: $crate::sdk::terminated(concat!($id, "\0")),
            name: $crate::sdk::terminated(concat!($name, "\0")),
            version: $crate::sdk::terminated(concat!(env!("CARGO_PKG_VERSION"), "\0")),
            vendor: $crate::sdk::terminated(concat!($vendor, "\0")),
            license: $crate::sdk::terminated(concat!(env!("CARGO_PKG_LICENSE"), "\0")),
            url: $crate::sdk::terminated(concat!(env!("CARGO_PKG_REPOSITORY"), "\0")),
            init: None,
            factory: Some(factory),
        };
    };
}
