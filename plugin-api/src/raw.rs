//! The Rust mirror of `include/skillbench.h`, name for name and field for field.
//!
//! The header is the truth and holds the documentation: threads, lifetimes and meanings are not repeated here.
//! `tests/contract/layout.rs` compares every size and offset with what a C compiler makes of the header.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_void};

pub const SB_ABI_MAJOR: u32 = 1;
pub const SB_ABI_MINOR: u32 = 1;
pub const SB_BACKEND: &str = "skillbench.backend/1";
pub const SB_BENCHMARKS: &str = "skillbench.benchmarks/1";
pub const SB_SKILLSET: &str = "skillbench.skillset/1";
pub const SB_POWER: &str = "skillbench.power/1";
pub const SB_COUNTERS: &str = "skillbench.counters/1";
pub const SB_PROFILE: &str = "skillbench.profile/1";
pub const SB_UNKNOWN: u64 = u64::MAX;

pub type sb_status = i32;
pub const SB_OK: sb_status = 0;
pub const SB_CANCELLED: sb_status = 1;
pub const SB_INVALID_ARGUMENT: sb_status = 3;
pub const SB_DEADLINE_EXCEEDED: sb_status = 4;
pub const SB_NOT_FOUND: sb_status = 5;
pub const SB_RESOURCE_EXHAUSTED: sb_status = 8;
pub const SB_FAILED_PRECONDITION: sb_status = 9;
pub const SB_UNIMPLEMENTED: sb_status = 12;
pub const SB_INTERNAL: sb_status = 13;
pub const SB_UNAVAILABLE: sb_status = 14;
pub const SB_WRONG_OUTPUT: sb_status = 100;

pub const SB_WHY_PLATFORM: u32 = 1;
pub const SB_WHY_RUNTIME: u32 = 2;
pub const SB_WHY_DRIVER: u32 = 4;
pub const SB_WHY_DEVICE: u32 = 8;
pub const SB_WHY_MODEL: u32 = 16;
pub const SB_WHY_MEMORY: u32 = 32;
pub const SB_WHY_PRECISION: u32 = 64;

pub const SB_HOST_MEMORY: i32 = 1;
pub const SB_INT: u8 = 0;
pub const SB_UINT: u8 = 1;
pub const SB_FLOAT: u8 = 2;
pub const SB_BFLOAT: u8 = 4;
pub const SB_COMPLEX: u8 = 5;
pub const SB_BOOL: u8 = 6;

pub const SB_LOG_ERROR: i32 = 1;
pub const SB_LOG_WARN: i32 = 2;
pub const SB_LOG_INFO: i32 = 3;
pub const SB_LOG_DEBUG: i32 = 4;

pub const SB_INPUT: i32 = 0;
pub const SB_OUTPUT: i32 = 1;
pub const SB_CPU: u32 = 0;
pub const SB_GPU: u32 = 1;
pub const SB_NPU: u32 = 2;
pub const SB_DSP: u32 = 3;
pub const SB_BROWSER: u32 = 4;
pub const SB_OTHER: u32 = 5;
pub const SB_DEVICE_EMULATED: u32 = 1;
pub const SB_DEVICE_REMOTE: u32 = 2;
pub const SB_BACKEND_SERIAL_LOAD: u32 = 1;
pub const SB_LOAD_ALLOW_FALLBACK: u32 = 1;
pub const SB_LOAD_PROFILE: u32 = 2;
pub const SB_OPERATOR_AS_SEEN_BY_HOST: u32 = 1;
pub const SB_SCOPE_PROCESS: u32 = 0;
pub const SB_SCOPE_DEVICE: u32 = 1;
pub const SB_SCOPE_PACKAGE: u32 = 2;
pub const SB_SCOPE_BOARD: u32 = 3;

pub const SB_DURATION: u32 = 0;
pub const SB_RATE: u32 = 1;
pub const SB_BYTES: u32 = 2;
pub const SB_JOULES: u32 = 3;
pub const SB_COUNT: u32 = 4;
pub const SB_RATIO: u32 = 5;
pub const SB_LOWER_IS_BETTER: u32 = 0;
pub const SB_HIGHER_IS_BETTER: u32 = 1;
pub const SB_NEITHER: u32 = 2;
pub const SB_SERIES_CONCURRENT: u32 = 1;
pub const SB_WARM_UP: u32 = 0;
pub const SB_MEASURED: u32 = 1;
pub const SB_BENCHMARK_NEEDS_TARGET: u32 = 1;
pub const SB_BENCHMARK_COLD_START: u32 = 2;
pub const SB_BENCHMARK_SHARES_MODELS: u32 = 4;

/// Handles that only their plugin can look into.
macro_rules! opaque {
    ($($name:ident)*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
}
opaque!(sb_instance sb_model sb_request);

/// Structs in C layout. `Copy`, because they hold only numbers, arrays and borrowed pointers.
macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $(pub $field: $type),* }
        )*

        /// Name, size and the offset of each field, for the test against the header.
        #[doc(hidden)]
        pub fn layouts() -> Vec<(&'static str, usize, Vec<(&'static str, usize)>)> {
            vec![$((
                stringify!($name),
                size_of::<$name>(),
                vec![$((stringify!($field), std::mem::offset_of!($name, $field))),*],
            )),*]
        }
    };
}

/// A slot of a table: a C function that may be missing.
macro_rules! slot {
    (fn($($arg:ty),* $(,)?) $(-> $ret:ty)?) => { Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?> };
}

pub type sb_done = slot!(fn(*mut c_void, sb_status, *const sb_timing, *const sb_error));

structs! {
    sb_error { size: u32, why: u32, code: sb_status, vendor_code: i32, message: [c_char; 496] }
    sb_option { key: *const c_char, value: *const c_char }
    sb_options { size: u32, count: u32, items: *const sb_option }
    sb_place { r#type: i32, id: i32 }
    sb_dtype { code: u8, bits: u8, lanes: u16 }
    sb_tensor {
        data: *mut c_void, place: sb_place, ndim: i32, dtype: sb_dtype,
        shape: *mut i64, strides: *mut i64, byte_offset: u64,
    }
    sb_owned { tensor: sb_tensor, owner: *mut c_void, release: slot!(fn(*mut sb_owned)) }
    sb_dim { name: *const c_char, min: i64, opt: i64, max: i64 }
    sb_host {
        size: u32, flags: u32, ctx: *mut c_void, name: *const c_char, version: *const c_char,
        log: slot!(fn(*mut c_void, i32, *const c_char, *const c_char)),
        phase: slot!(fn(*mut c_void, *const c_char, f64)),
        now_ns: slot!(fn(*mut c_void) -> u64),
        stopping: slot!(fn(*mut c_void) -> i32),
        extension: slot!(fn(*mut c_void, *const c_char) -> *const c_void),
        evidence: slot!(fn(*mut c_void, *const c_char, *const c_char)),
    }
    sb_device {
        size: u32, kind: u32, why: u32, flags: u32, place: sb_place, memory_bytes: u64,
        id: [c_char; 64], name: [c_char; 128], vendor: [c_char; 64], arch: [c_char; 64], driver: [c_char; 64],
        reason: [c_char; 256],
    }
    sb_source { size: u32, flags: u32, format: *const c_char, path: *const c_char, bytes: *const c_void, length: u64 }
    sb_load {
        size: u32, flags: u32, source: *const sb_source, precision: *const c_char, cache_dir: *const c_char,
        devices: *const u32, dims: *const sb_dim, device_count: u32, dim_count: u32, options: *const sb_options,
    }
    sb_port {
        size: u32, ndim: u32, name: *const c_char, shape: *const i64, dim_names: *const *const c_char, dtype: sb_dtype,
        flags: u32,
    }
    sb_placement {
        size: u32, flags: u32, nodes_total: u64, nodes_on_device: u64, cache_hit: u64,
        read_ns: u64, compile_ns: u64, upload_ns: u64,
        precision: [c_char; 32], device: [c_char; 64], engine: [c_char; 128],
    }
    sb_timing {
        size: u32, flags: u32, submit_ns: u64, start_ns: u64, end_ns: u64, clock_error_ns: u64,
        host_to_device_ns: u64, device_to_host_ns: u64,
    }
    sb_memory { size: u32, scope: u32, used: u64, peak: u64, total: u64 }
    sb_energy { size: u32, scope: u32, microjoules: u64, at_ns: u64, period_ns: u64, source: [c_char; 32] }
    sb_counter { size: u32, flags: u32, value: f64, name: [c_char; 64], unit: [c_char; 16] }
    sb_operator {
        size: u32, flags: u32, run: u64, start_ns: u64, duration_ns: u64,
        name: [c_char; 256], r#type: [c_char; 64], kernel: [c_char; 96], device: [c_char; 64],
    }
    sb_backend {
        size: u32, flags: u32, id: *const c_char, options_schema: *const c_char,
        open: slot!(fn(*const sb_host, *const sb_options, *mut *mut sb_instance, *mut sb_error) -> sb_status),
        close: slot!(fn(*mut sb_instance)),
        device_count: slot!(fn(*mut sb_instance) -> u32),
        device: slot!(fn(*mut sb_instance, u32, *mut sb_device, *mut sb_error) -> sb_status),
        supports: slot!(fn(*mut sb_instance, *const sb_load, *mut sb_error) -> sb_status),
        load: slot!(fn(*mut sb_instance, *const sb_load, *mut *mut sb_model, *mut sb_error) -> sb_status),
        unload: slot!(fn(*mut sb_model)),
        placement: slot!(fn(*mut sb_model, *mut sb_placement, *mut sb_error) -> sb_status),
        port_count: slot!(fn(*mut sb_model, i32) -> u32),
        port: slot!(fn(*mut sb_model, i32, u32, *mut sb_port, *mut sb_error) -> sb_status),
        allocate: slot!(fn(*mut sb_model, *const sb_tensor, *mut *mut sb_owned, *mut sb_error) -> sb_status),
        copy: slot!(fn(*mut sb_instance, *const sb_tensor, *const sb_tensor, *mut sb_error) -> sb_status),
        request: slot!(fn(*mut sb_model, *mut *mut sb_request, *mut sb_error) -> sb_status),
        release: slot!(fn(*mut sb_request)),
        bind: slot!(fn(*mut sb_request, i32, u32, *const sb_tensor, *const sb_place, *mut sb_error) -> sb_status),
        alias: slot!(fn(*mut sb_request, u32, u32, *mut sb_error) -> sb_status),
        reset: slot!(fn(*mut sb_request, *mut sb_error) -> sb_status),
        run: slot!(fn(*mut sb_request, *mut sb_timing, *mut sb_error) -> sb_status),
        output: slot!(fn(*mut sb_request, u32, *mut *mut sb_owned, *mut sb_error) -> sb_status),
        submit: slot!(fn(*mut sb_request, sb_done, *mut c_void, *mut sb_error) -> sb_status),
        cancel: slot!(fn(*mut sb_request, *mut sb_error) -> sb_status),
        memory: slot!(fn(*mut sb_instance, u32, *mut sb_memory, *mut sb_error) -> sb_status),
        extension: slot!(fn(*mut sb_instance, *const c_char) -> *const c_void),
    }
    sb_power { size: u32, flags: u32, read: slot!(fn(*mut sb_instance, u32, *mut sb_energy, *mut sb_error) -> sb_status) }
    sb_counters {
        size: u32, flags: u32,
        count: slot!(fn(*mut sb_instance, u32) -> u32),
        read: slot!(fn(*mut sb_instance, u32, u32, *mut sb_counter, *mut sb_error) -> sb_status),
    }
    sb_profile {
        size: u32, flags: u32,
        begin: slot!(fn(*mut sb_model, *mut sb_error) -> sb_status),
        end: slot!(fn(*mut sb_model, *mut sb_error) -> sb_status),
        count: slot!(fn(*mut sb_model) -> u32),
        read: slot!(fn(*mut sb_model, u32, *mut sb_operator, *mut sb_error) -> sb_status),
    }
    sb_skillset {
        size: u32, flags: u32, id: *const c_char, summary: *const c_char,
        count: slot!(fn() -> u32),
        describe: slot!(fn(u32) -> *const c_char),
        build: slot!(fn(*const sb_host, *const c_char, *const sb_options, *const c_char, *mut sb_error) -> sb_status),
    }
    sb_part { size: u32, flags: u32, name: *const c_char, source: *const sb_source }
    sb_target {
        size: u32, part_count: u32, parts: *const *const sb_part, backend: *const sb_backend, instance: *mut sb_instance,
        axes: *const sb_dim, axis_count: u32, flags: u32, seed: u64, skill: *const c_char, manifest: *const c_char,
        ctx: *mut c_void,
        load: slot!(fn(*mut c_void, *const c_char, *const sb_dim, u32, *mut *mut sb_model, *mut sb_error) -> sb_status),
        unload: slot!(fn(*mut c_void, *mut sb_model)),
        prepare: slot!(fn(*mut c_void, *mut sb_model, *mut sb_request, u64, *mut sb_error) -> sb_status),
        verify: slot!(fn(*mut c_void, *mut sb_model, *mut sb_request, *mut sb_error) -> sb_status),
    }
    sb_series {
        size: u32, kind: u32, better: u32, flags: u32, name: *const c_char, unit: *const c_char, items_per_sample: f64,
    }
    sb_round { size: u32, kind: u32, id: u64, iterations: u64, settle: u64, duration_ns: u64 }
    sb_samples { size: u32, series: u32, round: u64, count: u64, values: *const f64, start_ns: *const u64 }
    sb_reporter {
        size: u32, flags: u32, ctx: *mut c_void,
        series: slot!(fn(*mut c_void, *const sb_series, *mut u32, *mut sb_error) -> sb_status),
        next_round: slot!(fn(*mut c_void, u32, *mut sb_round) -> i32),
        samples: slot!(fn(*mut c_void, *const sb_samples, *mut sb_error) -> sb_status),
        attach: slot!(fn(*mut c_void, *const c_char, *const c_void, u64)),
    }
    sb_benchmark {
        size: u32, flags: u32, id: *const c_char, version: *const c_char, category: *const c_char,
        summary: *const c_char, options_schema: *const c_char,
        run: slot!(fn(*const sb_host, *const sb_target, *const sb_options, *const sb_reporter, *mut sb_error) -> sb_status),
        skill: *const c_char,
    }
    sb_benchmarks {
        size: u32, flags: u32,
        count: slot!(fn() -> u32),
        at: slot!(fn(u32) -> *const sb_benchmark),
    }
    sb_plugin {
        size: u32, abi_major: u32,
        id: *const c_char, name: *const c_char, version: *const c_char, vendor: *const c_char,
        license: *const c_char, url: *const c_char,
        init: slot!(fn(*const sb_host, *const c_char, *mut sb_error) -> sb_status),
        factory: slot!(fn(*const c_char) -> *const c_void),
        abi_minor: u32, flags: u32,
    }
}

/// Tables hold pointers into their own library, which is never unloaded, and functions that the contract lets be called from
/// any thread: sharing a reference to a table is sound.
macro_rules! tables {
    ($($name:ident)*) => { $(
        // SAFETY: see above; nothing is written through the pointers of a table.
        unsafe impl Sync for $name {}
        // SAFETY: as for Sync.
        unsafe impl Send for $name {}
    )* };
}
tables!(sb_plugin sb_backend sb_benchmark sb_benchmarks sb_skillset sb_power sb_counters sb_profile);
