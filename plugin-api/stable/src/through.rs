//! Objects as a backend of the SDK: what comes through the door stands behind the same table as everything else.

use crate::abi::{InstanceBox, Load as SharedLoad, ModelBox, OutputBox, Port as SharedPort, RequestBox, Tensor};
use crate::served::taken;
use abi_stable::std_types::{RNone, RSome, RVec};
use skillbench_plugin_api::sdk::{Backend, Bindings, Bound, Counters, Host, Model, Offers, Power, Profile, Request};
use skillbench_plugin_api::{
    Counter, Device, Energy, Error, Load, Memory, Operator, Options, OwnedTensor, Placement, Port, Result, Timing, Why,
};
use std::ffi::CStr;
use std::sync::Arc;

/// An instance on the other side of the door; none where models come from a target alone.
pub(crate) struct Through {
    instance: Option<InstanceBox>,
    devices: Vec<Device>,
}

impl Through {
    pub fn new(instance: InstanceBox) -> Result<Through> {
        let devices = taken(instance.devices())?.into_iter().map(Device::from).collect();
        Ok(Through { instance: Some(instance), devices })
    }

    /// Models come from a target, and are adopted.
    pub fn of_target() -> Through {
        Through { instance: None, devices: vec![] }
    }

    fn instance(&self) -> Result<&InstanceBox> {
        let text = "a benchmark loads through its target";
        self.instance.as_ref().ok_or_else(|| Error::unimplemented(Why::NONE, text))
    }
}

impl Backend for Through {
    const ID: &'static CStr = c"";
    const OPTIONS_SCHEMA: &'static CStr = c"";
    const OFFERS: Offers = Offers { supports: true, alias: true, memory: true, ..Offers::NONE };
    type Model = ThroughModel;

    fn open(_: Host, _: &Options) -> Result<Through> {
        Err(Error::unimplemented(Why::NONE, "a plugin of the abi_stable door is opened by its root"))
    }

    fn devices(&self) -> Vec<Device> {
        self.devices.clone()
    }

    fn supports(&self, load: &Load) -> Result<()> {
        taken(self.instance()?.supports(SharedLoad::from(load.clone())))
    }

    fn load(&self, load: &Load) -> Result<ThroughModel> {
        ThroughModel::new(taken(self.instance()?.load(SharedLoad::from(load.clone())))?)
    }

    fn memory(&self, device: u32) -> Result<Memory> {
        taken(self.instance()?.memory(device)).map(Memory::from)
    }

    fn power(&self) -> Option<&dyn Power> {
        Some(self)
    }

    fn counters(&self) -> Option<&dyn Counters> {
        Some(self)
    }

    fn profiles(&self) -> bool {
        self.instance.as_ref().is_some_and(|instance| instance.profiles())
    }
}

impl Power for Through {
    fn read(&self, device: u32) -> Result<Energy> {
        let energy = taken(self.instance()?.energy(device))?.into_option();
        energy.map(Energy::from).ok_or_else(|| Error::unimplemented(Why::NONE, "there is no energy counter"))
    }
}

impl Counters for Through {
    fn read(&self, device: u32) -> Result<Vec<Counter>> {
        Ok(taken(self.instance()?.counters(device))?.into_iter().map(Counter::from).collect())
    }
}

pub(crate) struct ThroughModel {
    object: ModelBox,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl ThroughModel {
    pub fn new(object: ModelBox) -> Result<ThroughModel> {
        let ports = |ports: RVec<SharedPort>| ports.into_iter().map(SharedPort::read).collect::<Result<_>>();
        let (inputs, outputs) = (ports(taken(object.inputs())?)?, ports(taken(object.outputs())?)?);
        Ok(ThroughModel { object, inputs, outputs })
    }
}

impl Model for ThroughModel {
    type Request = ThroughRequest;

    /// One that cannot be read says nothing: not which precision ran, nor where.
    fn placement(&self) -> Placement {
        taken(self.object.placement()).map(Placement::from).unwrap_or_default()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn request(self: &Arc<Self>) -> Result<ThroughRequest> {
        taken(self.object.request()).map(ThroughRequest)
    }

    fn profile(&self) -> Option<&dyn Profile> {
        Some(self)
    }
}

impl Profile for ThroughModel {
    fn begin(&self) -> Result<()> {
        taken(self.object.begin_profile())
    }

    fn end(&self) -> Result<Vec<Operator>> {
        Ok(taken(self.object.end_profile())?.into_iter().map(Operator::from).collect())
    }
}

pub(crate) struct ThroughRequest(pub RequestBox);

/// Lends a bound tensor for the length of one call; its data stays for longer, as the contract wants it.
fn lend<T>(bound: &Bound, call: impl FnOnce(Tensor<'_>) -> T) -> T {
    let shape: Vec<i64> = bound.shape().iter().map(|dim| *dim as i64).collect();
    call(Tensor { element: bound.dtype().into(), shape: shape.as_slice().into(), data: bound.as_mut_ptr() })
}

impl Request for ThroughRequest {
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        taken(lend(tensor, |tensor| self.0.bind_input(index as u32, tensor)))
    }

    fn bind_output(&mut self, index: usize, tensor: Option<&Bound>) -> Result<()> {
        taken(match tensor {
            Some(tensor) => lend(tensor, |tensor| self.0.bind_output(index as u32, RSome(tensor))),
            None => self.0.bind_output(index as u32, RNone),
        })
    }

    /// What is bound and held is known on the other side too, which was given the same calls.
    fn run(&mut self, _bound: &Bindings) -> Result<Timing> {
        taken(self.0.run()).map(Timing::from)
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        let output: OutputBox = taken(self.0.output(index as u32))?;
        let dtype = output.element().dtype()?;
        let dims = output.shape();
        let negative = |dim: i64| Error::internal(format!("an output with dimension {dim}"));
        let shape: Vec<usize> =
            dims.iter().map(|dim| usize::try_from(*dim).map_err(|_| negative(*dim))).collect::<Result<_>>()?;
        let (data, bytes) = (output.bytes().as_ptr().cast_mut(), output.bytes().len());
        let expected = shape.iter().try_fold(dtype.bytes(), |bytes, dim| bytes.checked_mul(*dim));
        if expected != Some(bytes) {
            return Err(Error::internal(format!("an output of {} {shape:?} with {bytes} bytes", dtype.name())));
        }
        // SAFETY: as many bytes as the shape has, which stay where they are for as long as the object lives.
        Ok(Some(unsafe { OwnedTensor::from_raw(dtype, &shape, data, Box::new(output)) }))
    }

    /// By the host, when it prepares the request of a target.
    fn is_bound_elsewhere(&self) -> bool {
        true
    }

    fn alias(&mut self, output: usize, input: usize) -> Result<()> {
        taken(self.0.alias(output as u32, input as u32))
    }

    fn reset(&mut self) -> Result<()> {
        taken(self.0.reset())
    }
}
