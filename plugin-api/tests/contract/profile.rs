//! What operators cost: from the SDK's traits to the host, through the C table; and tables that are shorter than they could be.

use crate::loading::host;
use skillbench_plugin_api::client::{BackendRef, Instance, Plugin};
use skillbench_plugin_api::raw::*;
use skillbench_plugin_api::sdk::{Backend, BackendTable, Bindings, Host, Model, Profile, Request};
use skillbench_plugin_api::{
    Code, Device, DeviceKind, Error, Load, Operator, Options, OwnedTensor, Placement, Port, Result, Source, Timing,
};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// A backend whose models have no ports, and record each run as two operators; with the option `plain`, nothing.
struct Recorder {
    records: bool,
}

struct Recorded {
    profiled: bool,
    /// Runs since `begin`; none before it.
    runs: Mutex<Option<u64>>,
}

struct Lane(Arc<Recorded>);

impl Backend for Recorder {
    const ID: &'static CStr = c"recorder";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    type Model = Recorded;

    fn open(_: Host, options: &Options) -> Result<Recorder> {
        Ok(Recorder { records: options.get("plain").is_none() })
    }

    fn devices(&self) -> Vec<Device> {
        vec![Device::new("gpu0", "a device", DeviceKind::Gpu)]
    }

    fn load(&self, load: &Load) -> Result<Recorded> {
        Ok(Recorded { profiled: load.profile, runs: Mutex::default() })
    }

    fn profiles(&self) -> bool {
        self.records
    }
}

impl Model for Recorded {
    type Request = Lane;

    fn placement(&self) -> Placement {
        Placement::default()
    }

    fn inputs(&self) -> &[Port] {
        &[]
    }

    fn outputs(&self) -> &[Port] {
        &[]
    }

    fn request(self: &Arc<Self>) -> Result<Lane> {
        Ok(Lane(self.clone()))
    }

    fn profile(&self) -> Option<&dyn Profile> {
        self.profiled.then_some(self as &dyn Profile)
    }
}

impl Profile for Recorded {
    fn begin(&self) -> Result<()> {
        *self.runs.lock().unwrap() = Some(0);
        Ok(())
    }

    fn end(&self) -> Result<Vec<Operator>> {
        let runs = self.runs.lock().unwrap().take();
        let runs = runs.ok_or_else(|| Error::new(Code::FailedPrecondition, "nothing is being recorded"))?;
        let both = |run| [multiply(run), copy()];
        Ok((0..runs).flat_map(both).collect())
    }
}

fn multiply(run: u64) -> Operator {
    Operator {
        run: Some(run),
        start_ns: Some(10),
        duration_ns: 2_500,
        as_seen_by_host: true,
        name: "/layer.0/MatMul".into(),
        kind: "MatMul".into(),
        kernel: "gemm_f32".into(),
        device: "gpu0".into(),
    }
}

/// One of which only the duration is known.
fn copy() -> Operator {
    Operator { duration_ns: 7, ..Operator::default() }
}

impl Request for Lane {
    fn run(&mut self, _: &Bindings) -> Result<Timing> {
        if let Some(runs) = self.0.runs.lock().unwrap().as_mut() {
            *runs += 1;
        }
        Ok(Timing::default())
    }

    fn take_output(&mut self, _: usize) -> Result<Option<OwnedTensor>> {
        Ok(None)
    }
}

fn options(option: &str) -> Options {
    Options([(option.to_string(), "yes".to_string())].into())
}

fn open(option: &str) -> Instance {
    BackendRef::linked::<Recorder>().unwrap().open(host(), &options(option)).unwrap()
}

fn load(profile: bool) -> Load {
    Load { profile, ..Load::new(Source::onnx(Path::new("no file is read"))) }
}

#[test]
fn the_runs_between_begin_and_end_are_told_operator_by_operator() {
    let instance = open("");
    assert!(instance.profiles());
    let model = instance.load(&load(true)).unwrap();
    let recording = instance.recording(&model).unwrap();
    let mut request = model.request().unwrap();
    for runs in [2, 1] {
        request.run().unwrap();
        recording.begin().unwrap();
        (0..runs).for_each(|_| request.run().unwrap());
        let operators = recording.end().unwrap();
        assert_eq!(operators.len(), 2 * runs);
        assert_eq!(operators[..2], [multiply(0), copy()], "what is unknown stays so");
        assert_eq!(operators[2 * runs - 2].run, Some(runs as u64 - 1));
    }
    assert_eq!(recording.end().unwrap_err().code, Code::FailedPrecondition);
}

#[test]
fn a_model_that_was_loaded_to_be_measured_records_nothing() {
    let instance = open("");
    let model = instance.load(&load(false)).unwrap();
    let error = instance.recording(&model).unwrap().begin().unwrap_err();
    assert_eq!(error.code, Code::FailedPrecondition);
    assert!(error.message.contains("SB_LOAD_PROFILE"), "{error}");
}

#[test]
fn a_backend_without_a_profile_has_none_to_begin() {
    let instance = open("plain");
    let model = instance.load(&load(true)).unwrap();
    assert!(!instance.profiles() && instance.recording(&model).is_none());
}

#[test]
fn a_model_of_another_backend_is_not_recorded() {
    let (one, other) = (open(""), open(""));
    let model = one.load(&load(true)).unwrap();
    assert!(other.recording(&model).is_none());
}

/// The extension of another time: all of the SDK's table, or a part of it.
static OFFERED: OnceLock<Mutex<sb_profile>> = OnceLock::new();
static BACKEND: OnceLock<sb_backend> = OnceLock::new();
static ROOT: OnceLock<sb_plugin> = OnceLock::new();

unsafe extern "C" fn extension(_: *mut sb_instance, id: *const c_char) -> *const c_void {
    // SAFETY: the client gives an id, and the table is static.
    match unsafe { CStr::from_ptr(id) }.to_str() {
        Ok(SB_PROFILE) => (&raw const *OFFERED.get().unwrap().lock().unwrap()).cast(),
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn factory(_: *const c_char) -> *const c_void {
    (&raw const *BACKEND.get().unwrap()).cast()
}

/// The SDK's own table of the extension.
fn whole_table(instance: *mut sb_instance) -> sb_profile {
    let id = std::ffi::CString::new(SB_PROFILE).unwrap();
    // SAFETY: a live instance, or one that the SDK refuses to look into.
    unsafe { *BackendTable::<Recorder>::TABLE.extension.unwrap()(instance, id.as_ptr()).cast::<sb_profile>() }
}

#[test]
fn a_table_without_all_of_its_slots_is_no_profile() {
    let mut instance = std::ptr::null_mut();
    let none = std::ptr::null_mut();
    // SAFETY: a host's table, no options, a writable pointer.
    let opened = unsafe {
        let open = BackendTable::<Recorder>::TABLE.open.unwrap();
        open(&raw const *host_table(), std::ptr::null(), &raw mut instance, none)
    };
    assert_eq!(opened, SB_OK);
    let whole = whole_table(instance);
    OFFERED.set(Mutex::new(whole)).ok().unwrap();
    BACKEND.set(sb_backend { extension: Some(extension), ..BackendTable::<Recorder>::TABLE }).ok().unwrap();
    let root = sb_plugin {
        size: size_of::<sb_plugin>() as u32,
        abi_major: SB_ABI_MAJOR,
        abi_minor: SB_ABI_MINOR,
        flags: 0,
        id: c"short".as_ptr(),
        name: std::ptr::null(),
        version: std::ptr::null(),
        vendor: std::ptr::null(),
        license: std::ptr::null(),
        url: std::ptr::null(),
        init: None,
        factory: Some(factory),
    };
    // SAFETY: a static table.
    let plugin = unsafe { Plugin::new(ROOT.get_or_init(|| root)) }.unwrap();
    let instance = plugin.backend().unwrap().unwrap().open(host(), &Options::default()).unwrap();
    let model = instance.load(&load(true)).unwrap();
    assert!(instance.profiles(), "as it is");

    let ends_before = |field: usize| sb_profile { size: field as u32, ..whole };
    let missing = [
        ends_before(std::mem::offset_of!(sb_profile, begin)),
        ends_before(std::mem::offset_of!(sb_profile, count)),
        ends_before(std::mem::offset_of!(sb_profile, read)),
        sb_profile { count: None, ..whole },
    ];
    for table in missing {
        *OFFERED.get().unwrap().lock().unwrap() = table;
        assert!(!instance.profiles() && instance.recording(&model).is_none(), "{} bytes", table.size);
    }
}

/// A host without services.
fn host_table() -> &'static sb_host {
    // SAFETY: numbers, pointers and slots, for which zeros are valid.
    let mut host: sb_host = unsafe { std::mem::zeroed() };
    host.size = size_of::<sb_host>() as u32;
    Box::leak(Box::new(host))
}

#[test]
fn a_caller_with_a_shorter_operator_gets_what_it_has_room_for() {
    let (mut instance, mut model, mut request) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    let none = std::ptr::null_mut();
    let table = BackendTable::<Recorder>::TABLE;
    let (format, path) = (c"onnx", c"no file is read");
    // SAFETY: handles and structs as the contract wants them; zeros are valid for each of the structs.
    unsafe {
        assert_eq!(table.open.unwrap()(host_table(), std::ptr::null(), &raw mut instance, none), SB_OK);
        let mut source: sb_source = std::mem::zeroed();
        (source.size, source.format, source.path) = (size_of::<sb_source>() as u32, format.as_ptr(), path.as_ptr());
        let mut load: sb_load = std::mem::zeroed();
        (load.size, load.flags, load.source) = (size_of::<sb_load>() as u32, SB_LOAD_PROFILE, &raw const source);
        assert_eq!(table.load.unwrap()(instance, &raw const load, &raw mut model, none), SB_OK);
        assert_eq!(table.request.unwrap()(model, &raw mut request, none), SB_OK);
        let profile = whole_table(instance);
        assert_eq!(profile.begin.unwrap()(model, none), SB_OK);
        assert_eq!(table.run.unwrap()(request, std::ptr::null_mut(), none), SB_OK);
        assert_eq!(profile.end.unwrap()(model, none), SB_OK);
        assert_eq!(profile.count.unwrap()(model), 2);

        let known = std::mem::offset_of!(sb_operator, name);
        let mut room = [u64::MAX; 5];
        room[0] = known as u64;
        assert_eq!(profile.read.unwrap()(model, 0, room.as_mut_ptr().cast(), none), SB_OK);
        let as_seen_by_host = u64::from(SB_OPERATOR_AS_SEEN_BY_HOST);
        assert_eq!(room, [known as u64 | as_seen_by_host << 32, 0, 10, 2_500, u64::MAX], "and nothing behind it");
        assert_eq!(profile.read.unwrap()(model, 2, room.as_mut_ptr().cast(), none), SB_NOT_FOUND);
        table.release.unwrap()(request);
        table.unload.unwrap()(model);
        table.close.unwrap()(instance);
    }
}
