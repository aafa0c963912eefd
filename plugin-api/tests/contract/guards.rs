//! Callees never write past the size that a caller gave, whichever of the two is newer.

use crate::compile::{c_template, cargo_library, cpp_plugin, install_c_template};
use crate::loading::{host, table};
use crate::model::probe;
use skillbench_plugin_api::raw::*;
use std::ffi::CString;
use std::path::Path;

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

impl Driven {
    pub fn new(library: &Path) -> Driven {
        let id = CString::new(SB_BACKEND).unwrap();
        let path = CString::new(probe().to_str().unwrap()).unwrap();
        let mut driven = Driven {
            table: std::ptr::null(),
            instance: std::ptr::null_mut(),
            model: std::ptr::null_mut(),
            request: std::ptr::null_mut(),
        };
        let source = sb_source {
            size: size_of::<sb_source>() as u32,
            flags: 0,
            format: c"onnx".as_ptr(),
            path: path.as_ptr(),
            bytes: std::ptr::null(),
            length: 0,
        };
        let load = sb_load {
            size: size_of::<sb_load>() as u32,
            flags: 0,
            source: &raw const source,
            precision: std::ptr::null(),
            cache_dir: std::ptr::null(),
            devices: std::ptr::null(),
            dims: std::ptr::null(),
            device_count: 0,
            dim_count: 0,
            options: std::ptr::null(),
        };
        // SAFETY: tables, handles and structs as the contract wants them.
        unsafe {
            let plugin = &*table(library).expect("the symbol");
            driven.table = plugin.factory.unwrap()(id.as_ptr()).cast();
            let (slots, none) = (&*driven.table, std::ptr::null_mut());
            let host = &raw const *host();
            assert_eq!(slots.open.unwrap()(host.cast(), std::ptr::null(), &raw mut driven.instance, none), SB_OK);
            assert_eq!(slots.load.unwrap()(driven.instance, &raw const load, &raw mut driven.model, none), SB_OK);
            assert_eq!(slots.request.unwrap()(driven.model, &raw mut driven.request, none), SB_OK);
            let (mut shape, input) = ([1_i64, 64], Box::leak(Box::new([0_f32; 64])));
            let tensor = sb_tensor {
                data: input.as_mut_ptr().cast(),
                place: sb_place { r#type: SB_HOST_MEMORY, id: 0 },
                ndim: 2,
                dtype: sb_dtype { code: SB_FLOAT, bits: 32, lanes: 1 },
                shape: shape.as_mut_ptr(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            };
            let place = std::ptr::null();
            let bound = slots.bind.unwrap()(driven.request, SB_INPUT, 0, &raw const tensor, place, none);
            assert_eq!(bound, SB_OK);
        }
        driven
    }

    /// Calls every slot that fills a struct with callers of every size. `known` tells how long the callee's own is.
    pub fn check(&self, known: impl Fn(&str, u32) -> u32) {
        // SAFETY: as in `new`; the buffers are longer than any size that is told.
        unsafe {
            let (slots, none) = (&*self.table, std::ptr::null_mut());
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

#[test]
fn the_c_template_writes_only_below_the_callers_size() {
    let folder = tempfile::tempdir().unwrap();
    install_c_template(folder.path(), |_, text| text);
    Driven::new(&c_template(folder.path())).check(|_, size| size);
}

#[test]
fn a_plugin_in_cpp_writes_only_below_the_callers_size() {
    let folder = tempfile::tempdir().unwrap();
    Driven::new(&cpp_plugin(folder.path())).check(|_, size| size);
}

#[test]
fn the_sdk_writes_only_below_the_callers_size() {
    Driven::new(&cargo_library("skillbench-fixture-misbehave")).check(|_, size| size);
}
