//! The optional extensions of a backend, and what it says it looked at: from the SDK's traits to the host, through the C table.

use skillbench_plugin_api::client::{BackendRef, Instance};
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use skillbench_plugin_api::sdk::{Backend, Bindings, Counters, Host, Model, Power, Request};
use skillbench_plugin_api::{
    Counter, Device, DeviceKind, Energy, Error, Load, Options, OwnedTensor, Placement, Port, Result, Scope, Timing, Why,
};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A backend that has sensors, where its option says so, and loads nothing.
struct Sensing {
    has_sensors: bool,
    readings: AtomicU32,
}

struct Nothing;

impl Backend for Sensing {
    const ID: &'static CStr = c"sensing";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    type Model = Nothing;

    fn open(host: Host, options: &Options) -> Result<Sensing> {
        host.evidence("libsensors.so", "not found");
        match options.get("fail") {
            Some(_) => Err(Error::unavailable(Why::RUNTIME, "no runtime")),
            None => Ok(Sensing { has_sensors: options.get("plain").is_none(), readings: AtomicU32::new(0) }),
        }
    }

    fn devices(&self) -> Vec<Device> {
        ["one", "two"].map(|id| Device::new(id, id, DeviceKind::Gpu)).into()
    }

    fn load(&self, _: &Load) -> Result<Nothing> {
        Err(Error::unimplemented(Why::MODEL, "nothing is loaded here"))
    }

    fn power(&self) -> Option<&dyn Power> {
        self.has_sensors.then_some(self as &dyn Power)
    }

    fn counters(&self) -> Option<&dyn Counters> {
        self.has_sensors.then_some(self as &dyn Counters)
    }
}

impl Power for Sensing {
    fn read(&self, device: u32) -> Result<Energy> {
        match device {
            0 => Ok(Energy {
                microjoules: 1234,
                at_ns: None,
                period_ns: Some(20_000_000),
                scope: Scope::Board,
                source: "NVML".into(),
            }),
            _ => Err(Error::unimplemented(Why::DEVICE, "this device has no sensor")),
        }
    }
}

impl Counters for Sensing {
    fn read(&self, _: u32) -> Result<Vec<Counter>> {
        let times = self.readings.fetch_add(1, Ordering::SeqCst) + 1;
        Ok(vec![Counter::new("clock", "MHz", f64::from(times)), Counter::new("load", "%", f64::NAN)])
    }
}

impl Model for Nothing {
    type Request = Nothing;

    fn placement(&self) -> Placement {
        Placement::default()
    }

    fn inputs(&self) -> &[Port] {
        &[]
    }

    fn outputs(&self) -> &[Port] {
        &[]
    }

    fn request(self: &Arc<Self>) -> Result<Nothing> {
        Ok(Nothing)
    }
}

impl Request for Nothing {
    fn run(&mut self, _: &Bindings) -> Result<Timing> {
        Ok(Timing::default())
    }

    fn take_output(&mut self, _: usize) -> Result<Option<OwnedTensor>> {
        Ok(None)
    }
}

/// A host that keeps what it is told was looked at.
#[derive(Default)]
struct Noting(Mutex<Vec<(String, String)>>);

impl HostServices for Noting {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
    fn evidence(&self, what: &str, found: &str) {
        self.0.lock().unwrap().push((what.into(), found.into()));
    }
}

fn open(option: Option<&str>) -> (&'static Noting, Result<Instance>) {
    let noting: &'static Noting = Box::leak(Box::default());
    let options = Options(option.map(|name| (name.to_string(), "yes".to_string())).into_iter().collect());
    let instance = BackendRef::linked::<Sensing>().unwrap().open(HostTable::leak(noting), &options);
    (noting, instance)
}

#[test]
fn what_was_looked_at_reaches_the_host_also_where_opening_fails() {
    for option in [None, Some("fail")] {
        let (noting, opened) = open(option);
        assert_eq!(opened.is_err(), option.is_some());
        assert_eq!(*noting.0.lock().unwrap(), [("libsensors.so".to_string(), "not found".to_string())]);
    }
}

#[test]
fn energy_comes_with_its_sensor_and_is_nothing_where_there_is_none() {
    let instance = open(None).1.unwrap();
    let energy = instance.energy(0).unwrap().unwrap();
    assert_eq!((energy.microjoules, energy.scope, energy.source.as_str()), (1234, Scope::Board, "NVML"));
    assert_eq!((energy.at_ns, energy.period_ns), (None, Some(20_000_000)), "what is unknown stays so");
    assert_eq!(instance.energy(1).unwrap(), None, "this device has no sensor");
    assert_eq!(open(Some("plain")).1.unwrap().energy(0).unwrap(), None);
}

#[test]
fn counters_are_of_one_moment_and_anew_each_time() {
    let instance = open(None).1.unwrap();
    for times in [1.0, 2.0] {
        let [clock, load] = &instance.counters(0).unwrap()[..] else { panic!("two counters") };
        assert_eq!((clock.name.as_str(), clock.unit.as_str(), clock.value), ("clock", "MHz", times));
        assert!(load.value.is_nan(), "what cannot be told now");
    }
    assert!(open(Some("plain")).1.unwrap().counters(0).unwrap().is_empty());
}
