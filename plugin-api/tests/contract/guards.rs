//! Callees never write past the size that a caller gave, whichever of the two is newer.

use crate::compile::{c_template, cargo_library, cpp_plugin, install_c_template};
use crate::model::probe;
use skillbench_plugin_api::raw::*;
use std::ffi::{CString, c_void};
use std::path::Path;
use std::ptr::null_mut;

const GUARD: u8 = 0xA5;

/// A caller's struct of any size, with guard bytes behind it.
#[repr(C, align(8))]
struct Buffer([u8; 4096]);

impl Buffer {
    fn new(size: u32) -> Buffer {
        let mut buffer = Buffer([GUARD; 4096]);
        buffer.0[..size as usize].fill(0);
        buffer.0[..4].copy_from_slice(&size.to_ne_bytes());
        buffer
    }

    fn pointer<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Nothing behind `size` was written, and the size tells how much before it was.
    fn check(&self, what: &str, size: u32, known: u32) {
        let filled = u32::from_ne_bytes(self.0[..4].try_into().unwrap());
        assert_eq!(filled, size.min(known), "{what}: a caller of {size} bytes, a callee that knows {known}");
        assert!(self.0[size as usize..].iter().all(|byte| *byte == GUARD), "{what}: written past {size} bytes");
        assert!(self.0[filled as usize..size as usize].iter().all(|byte| *byte == 0), "{what}: written past {filled}");
    }
}

/// Sizes of older and newer callers: each whole eight bytes of the struct, and more than it has.
fn sizes<T>() -> impl Iterator<Item = u32> {
    (8..=size_of::<T>() as u32 + 64).step_by(8)
}

/// A backend's table, driven without the client.
pub struct Driven {
    table: *const sb_backend,
    instance: *mut sb_instance,
    model: *mut sb_model,
    request: *mut sb_request,
}

/// How much of the structs that the caller provides it says to have; what lies behind leads nowhere.
#[derive(Clone, Copy)]
pub struct Caller {
    host: usize,
    load: usize,
    options: usize,
}

impl Caller {
    pub const FULL: Caller =
        Caller { host: size_of::<sb_host>(), load: size_of::<sb_load>(), options: size_of::<sb_options>() };

    /// One that knows only the first fields.
    const OLD: Caller = Caller {
        host: std::mem::offset_of!(sb_host, log),
        load: std::mem::offset_of!(sb_load, devices),
        options: std::mem::offset_of!(sb_options, items),
    };
}

/// Whoever follows this has read what the caller does not have.
fn nowhere<T>() -> *const T {
    std::ptr::without_provenance(8)
}

/// A host without services, which says that it ends at `size`.
fn host(size: usize) -> &'static sb_host {
    // SAFETY: numbers, pointers and slots, for which zeros are valid.
    let mut host: sb_host = unsafe { std::mem::zeroed() };
    host.size = size as u32;
    if size < size_of::<sb_host>() {
        // SAFETY: never called, if the plugin asks the size first.
        host.now_ns =
            Some(unsafe { std::mem::transmute::<*const (), unsafe extern "C" fn(*mut c_void) -> u64>(nowhere()) });
        // SAFETY: as above.
        host.stopping =
            Some(unsafe { std::mem::transmute::<*const (), unsafe extern "C" fn(*mut c_void) -> i32>(nowhere()) });
    }
    Box::leak(Box::new(host))
}

/// A request for the probe, which says that it ends at `size`.
fn load(size: usize, source: &sb_source) -> sb_load {
    // SAFETY: numbers and pointers, for which zeros are valid.
    let mut load: sb_load = unsafe { std::mem::zeroed() };
    load.size = size as u32;
    load.source = source;
    if size < size_of::<sb_load>() {
        (load.devices, load.device_count, load.dims, load.dim_count) = (nowhere(), 7, nowhere(), 7);
        load.options = nowhere();
    }
    load
}

impl Driven {
    pub fn new(library: &Path, caller: Caller) -> Driven {
        let id = CString::new(SB_BACKEND).unwrap();
        let path = CString::new(probe().to_str().unwrap()).unwrap();
        let source = sb_source {
            size: size_of::<sb_source>() as u32,
            flags: 0,
            format: c"onnx".as_ptr(),
            path: path.as_ptr(),
            bytes: std::ptr::null(),
            length: 0,
        };
        let load = load(caller.load, &source);
        let count = if caller.options < size_of::<sb_options>() { 7 } else { 0 };
        let options = sb_options { size: caller.options as u32, count, items: nowhere() };
        let (mut instance, mut model, mut request) = (null_mut(), null_mut(), null_mut());
        // SAFETY: tables, handles and structs as the contract wants them.
        unsafe {
            let plugin = &*crate::loading::table(library).expect("the symbol");
            let table: *const sb_backend = plugin.factory.unwrap()(id.as_ptr()).cast();
            let (slots, none) = (&*table, null_mut());
            let opened = slots.open.unwrap()(host(caller.host), &raw const options, &raw mut instance, none);
            assert_eq!(opened, SB_OK);
            assert_eq!(slots.load.unwrap()(instance, &raw const load, &raw mut model, none), SB_OK);
            assert_eq!(slots.request.unwrap()(model, &raw mut request, none), SB_OK);
            let (mut shape, input) = ([1_i64, 64], Box::leak(Box::new([0_f32; 64])));
            let tensor = sb_tensor {
                data: input.as_mut_ptr().cast(),
                place: sb_place { r#type: SB_HOST_MEMORY, id: 0 },
                ndim: 2,
                dtype: sb_dtype { code: SB_FLOAT, bits: 32, lanes: 1 },
                shape: shape.as_mut_ptr(),
                strides: null_mut(),
                byte_offset: 0,
            };
            assert_eq!(slots.bind.unwrap()(request, SB_INPUT, 0, &raw const tensor, std::ptr::null(), none), SB_OK);
            assert_eq!(slots.run.unwrap()(request, null_mut(), none), SB_OK);
            Driven { table, instance, model, request }
        }
    }

    /// Calls every slot that fills a struct with callers of every size. `known` tells how long the callee's own is.
    pub fn check(&self, known: impl Fn(&str, u32) -> u32) {
        // SAFETY: as in `new`; the buffers are longer than any size that is told.
        unsafe {
            let (slots, none) = (&*self.table, null_mut());
            for size in sizes::<sb_device>() {
                let mut buffer = Buffer::new(size);
                assert_eq!(slots.device.unwrap()(self.instance, 0, buffer.pointer(), none), SB_OK);
                buffer.check("sb_device", size, known("sb_device", size_of::<sb_device>() as u32));
            }
            for size in sizes::<sb_placement>() {
                let mut buffer = Buffer::new(size);
                assert_eq!(slots.placement.unwrap()(self.model, buffer.pointer(), none), SB_OK);
                buffer.check("sb_placement", size, known("sb_placement", size_of::<sb_placement>() as u32));
            }
            for size in sizes::<sb_port>() {
                let mut buffer = Buffer::new(size);
                assert_eq!(slots.port.unwrap()(self.model, SB_INPUT, 0, buffer.pointer(), none), SB_OK);
                buffer.check("sb_port", size, known("sb_port", size_of::<sb_port>() as u32));
            }
            for size in sizes::<sb_timing>() {
                let mut buffer = Buffer::new(size);
                assert_eq!(slots.run.unwrap()(self.request, buffer.pointer(), none), SB_OK);
                buffer.check("sb_timing", size, known("sb_timing", size_of::<sb_timing>() as u32));
            }
            for size in sizes::<sb_error>() {
                let (mut buffer, mut device) = (Buffer::new(size), Buffer::new(8));
                let status = slots.device.unwrap()(self.instance, 99, device.pointer(), buffer.pointer());
                assert_eq!(status, SB_NOT_FOUND);
                buffer.check("sb_error", size, known("sb_error", size_of::<sb_error>() as u32));
            }
        }
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once, in order.
        unsafe {
            let slots = &*self.table;
            slots.release.unwrap()(self.request);
            slots.unload.unwrap()(self.model);
            slots.close.unwrap()(self.instance);
        }
    }
}

/// Whatever size the caller has, and however little it provides.
fn check(library: &Path) {
    Driven::new(library, Caller::FULL).check(|_, size| size);
    Driven::new(library, Caller::OLD).check(|_, size| size);
}

#[test]
fn the_c_template_stays_within_the_callers_size() {
    let folder = tempfile::tempdir().unwrap();
    install_c_template(folder.path(), |_, text| text);
    check(&c_template(folder.path()));
}

#[test]
fn a_plugin_in_cpp_stays_within_the_callers_size() {
    let folder = tempfile::tempdir().unwrap();
    check(&cpp_plugin(folder.path()));
}

#[test]
fn the_sdk_stays_within_the_callers_size() {
    check(&cargo_library("skillbench-fixture-misbehave"));
}
