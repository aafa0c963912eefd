//! An output that becomes an input of the next run: what the SDK holds, and when it lets go.

use crate::compile::{c_template, install_c_template};
use crate::loading::{backend, floats, host, integers};
use crate::model::probe;
use skillbench_plugin_api::client::{BackendRef, Instance, Model as Loaded, Request as Lane};
use skillbench_plugin_api::sdk::{Backend, Bindings, Bound, Host, Model, Offers, Request};
use skillbench_plugin_api::{
    Code, DType, Device, DeviceKind, Direction, Error, Load, Options, OwnedTensor, Placement, Port, Result, Source,
    Timing,
};
use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;

/// Appends: `past` and `x` give `present`, and the same again as `seen`. It fails on a seven.
struct Appending;

struct AppendingModel {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

#[derive(Default)]
struct AppendingLane {
    /// Of the last run.
    present: Option<Vec<f32>>,
    seen: Option<Vec<f32>>,
}

fn port(name: &str, dtype: DType, shape: &[Option<usize>]) -> Port {
    Port { name: name.into(), dtype, shape: shape.into(), dim_names: vec![None; shape.len()] }
}

impl Backend for Appending {
    const ID: &'static CStr = c"appending";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    const OFFERS: Offers = Offers { alias: true, ..Offers::NONE };
    type Model = AppendingModel;

    fn open(_: Host, _: &Options) -> Result<Appending> {
        Ok(Appending)
    }

    fn devices(&self) -> Vec<Device> {
        vec![Device::new("list", "a list", DeviceKind::Other)]
    }

    fn load(&self, _: &Load) -> Result<AppendingModel> {
        let open = |name| port(name, DType::F32, &[None]);
        let inputs =
            vec![open("x"), open("past"), port("number", DType::I64, &[None]), port("pair", DType::F32, &[Some(2)])];
        Ok(AppendingModel { inputs, outputs: vec![open("present"), open("seen"), port("one", DType::F32, &[Some(1)])] })
    }
}

impl Model for AppendingModel {
    type Request = AppendingLane;

    fn placement(&self) -> Placement {
        Placement::default()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn request(self: &Arc<Self>) -> Result<AppendingLane> {
        Ok(AppendingLane::default())
    }
}

impl Request for AppendingLane {
    fn bind_output(&mut self, _: usize, _: Option<&Bound>) -> Result<()> {
        Ok(())
    }

    fn alias(&mut self, output: usize, input: usize) -> Result<()> {
        match (output, input) {
            (0 | 1, 0 | 1) => Ok(()),
            _ => Err(Error::internal("the SDK lets nothing through that does not fit")),
        }
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        let kept = [self.present.take(), self.seen.take()];
        let read = |input: usize| match bound.held(input) {
            Some(output) => kept[output].clone().ok_or_else(|| Error::internal("nothing was kept")),
            None => Ok(bound.input(input)?.as_slice::<f32>().unwrap().to_vec()),
        };
        let (x, mut list) = (read(0)?, read(1)?);
        if x.contains(&7.0) {
            return Err(Error::internal("a seven"));
        }
        list.extend(&x);
        self.seen = Some(list.clone());
        match bound.output(0) {
            Some(memory) => memory.write(&list)?,
            None => self.present = Some(list),
        }
        Ok(Timing::default())
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        let from = if index == 0 { &mut self.present } else { &mut self.seen };
        from.take().map(|list| OwnedTensor::from_vec(&[list.len()], list)).transpose()
    }
}

const PAST: u32 = 1;
const PRESENT: u32 = 0;
const SEEN: u32 = 1;

fn opened() -> Instance {
    BackendRef::linked::<Appending>().unwrap().open(host(), &Options::default()).unwrap()
}

fn model(instance: &Instance) -> Loaded<'_> {
    instance.load(&Load::new(Source::onnx(Path::new("no file is read")))).unwrap()
}

/// A request with nothing in its list.
fn lane<'m>(model: &'m Loaded<'_>) -> Lane<'m> {
    let mut lane = model.request().unwrap();
    lane.bind(Direction::Input, 2, integers(&[0], &[])).unwrap();
    lane.bind(Direction::Input, 3, floats(&[2], &[0.0, 0.0])).unwrap();
    begin(&mut lane, &[]);
    lane
}

fn begin(lane: &mut Lane<'_>, list: &[f32]) {
    lane.bind(Direction::Input, PAST, floats(&[list.len()], list)).unwrap();
}

/// Runs with one more value, and returns the list as the run saw it.
fn add(lane: &mut Lane<'_>, value: f32) -> Result<Vec<f32>> {
    lane.bind(Direction::Input, 0, floats(&[1], &[value]))?;
    lane.run()?;
    Ok(lane.take_output(SEEN)?.as_slice::<f32>().unwrap().to_vec())
}

fn unbound(name: &str, error: Error) {
    assert_eq!((error.code, error.message), (Code::FailedPrecondition, format!("input '{name}' is not bound")));
}

#[test]
fn an_output_is_the_input_of_the_run_after_it() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    assert_eq!(add(&mut lane, 9.0).unwrap(), [9.0]);
    lane.alias(PRESENT, PAST).unwrap();
    assert_eq!(add(&mut lane, 1.0).unwrap(), [1.0], "what the run before the alias gave is no part of it");
    assert_eq!(add(&mut lane, 2.0).unwrap(), [1.0, 2.0]);
    assert_eq!(add(&mut lane, 3.0).unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_tensor_bound_to_the_input_is_read_once_and_the_alias_goes_on() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    lane.alias(PRESENT, PAST).unwrap();
    add(&mut lane, 1.0).unwrap();
    begin(&mut lane, &[5.0, 6.0]);
    assert_eq!(add(&mut lane, 2.0).unwrap(), [5.0, 6.0, 2.0]);
    assert_eq!(add(&mut lane, 3.0).unwrap(), [5.0, 6.0, 2.0, 3.0]);
}

#[test]
fn what_is_kept_is_not_given_away() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    lane.alias(PRESENT, PAST).unwrap();
    add(&mut lane, 1.0).unwrap();
    let refused = lane.take_output(PRESENT).err().unwrap();
    assert_eq!(refused.code, Code::FailedPrecondition);
    assert!(refused.message.contains("is kept for input 'past'"), "{refused}");
    assert_eq!(add(&mut lane, 2.0).unwrap(), [1.0, 2.0]);
}

#[test]
fn binding_the_output_ends_the_alias_and_drops_what_is_held() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    lane.alias(PRESENT, PAST).unwrap();
    add(&mut lane, 1.0).unwrap();
    lane.leave_output(PRESENT).unwrap();
    unbound("past", add(&mut lane, 2.0).unwrap_err());
    begin(&mut lane, &[]);
    add(&mut lane, 2.0).unwrap();
    assert_eq!(add(&mut lane, 3.0).unwrap(), [3.0], "the tensor is read in every run again");
    assert!(lane.take_output(PRESENT).is_ok());

    lane.alias(PRESENT, PAST).unwrap();
    let memory = floats(&[1], &[]);
    lane.bind(Direction::Output, PRESENT, memory.clone()).unwrap();
    for value in [4.0, 5.0] {
        assert_eq!(add(&mut lane, value).unwrap(), [value], "a tensor that no run has used up stays bound");
        assert_eq!(memory.as_slice::<f32>().unwrap(), [value]);
    }
}

#[test]
fn a_reset_and_a_failing_run_drop_what_is_held_and_keep_the_alias() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    lane.alias(PRESENT, PAST).unwrap();
    let failing = |lane: &mut Lane<'_>| assert_eq!(add(lane, 7.0).unwrap_err().message, "a seven");
    for drop_it in [failing, |lane: &mut Lane<'_>| lane.reset().unwrap()] {
        begin(&mut lane, &[]);
        add(&mut lane, 1.0).unwrap();
        drop_it(&mut lane);
        unbound("past", add(&mut lane, 2.0).unwrap_err());
        begin(&mut lane, &[]);
        add(&mut lane, 2.0).unwrap();
        assert_eq!(add(&mut lane, 3.0).unwrap(), [2.0, 3.0]);
    }
}

#[test]
fn a_failing_run_keeps_a_tensor_that_was_bound() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    lane.alias(PRESENT, PAST).unwrap();
    begin(&mut lane, &[8.0]);
    assert!(add(&mut lane, 7.0).is_err());
    assert_eq!(add(&mut lane, 1.0).unwrap(), [8.0, 1.0]);
}

#[test]
fn an_alias_takes_the_place_of_those_before_it() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    lane.alias(PRESENT, PAST).unwrap();
    add(&mut lane, 1.0).unwrap();
    lane.alias(PRESENT, PAST).unwrap();
    assert_eq!(add(&mut lane, 2.0).unwrap(), [1.0, 2.0], "said twice, it goes on");
    lane.alias(PRESENT, 0).unwrap();
    unbound("past", lane.run().unwrap_err());
    begin(&mut lane, &[]);
    lane.run().unwrap();
    lane.alias(SEEN, 0).unwrap();
    unbound("x", lane.run().unwrap_err());
    assert!(lane.take_output(PRESENT).is_ok(), "nobody takes it any more");
}

#[test]
fn ports_that_do_not_fit_are_refused() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    let code = |error: Result<()>| error.unwrap_err().code;
    assert_eq!(code(lane.alias(PRESENT, 2)), Code::InvalidArgument, "another type");
    assert_eq!(code(lane.alias(2, 3)), Code::InvalidArgument, "another size");
    assert_eq!(code(lane.alias(3, 0)), Code::NotFound);
    assert_eq!(code(lane.alias(0, 4)), Code::NotFound);
    lane.bind(Direction::Output, PRESENT, floats(&[1], &[])).unwrap();
    assert_eq!(code(lane.alias(PRESENT, PAST)), Code::FailedPrecondition, "memory of the caller");
}

#[test]
fn a_taken_output_is_bound_as_it_lies_there() {
    let instance = opened();
    let model = model(&instance);
    let mut lane = lane(&model);
    for value in [1.0, 2.0, 3.0] {
        add(&mut lane, value).unwrap();
        let taken = Arc::new(lane.take_output(PRESENT).unwrap());
        lane.bind_taken(PAST, taken).unwrap();
    }
    assert_eq!(add(&mut lane, 4.0).unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_backend_without_the_slot_says_so() {
    let folder = tempfile::tempdir().unwrap();
    install_c_template(folder.path(), |_, text| text);
    let instance = backend(&c_template(folder.path())).open(host(), &Options::default()).unwrap();
    let model = instance.load(&Load::new(Source::onnx(&probe()))).unwrap();
    assert_eq!(model.request().unwrap().alias(0, 0).unwrap_err().code, Code::Unimplemented);
}
