//! A backend in front of a real one, that keeps states in its own way, or loses them.

use skillbench_plugin_api::client::{self, BackendRef, Instance};
use skillbench_plugin_api::host_tables::HostTable;
use skillbench_plugin_api::sdk::{Backend, Bindings, Bound, Host, Model, Offers, Request};
use skillbench_plugin_api::{
    Code, DType, Device, Direction, Error, HostTensor, Load, Options, OwnedTensor, Placement, Port, Result, Timing, Why,
};
use skillbench_testkit::Quiet;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An instance of the proxy that does this to states.
pub fn opened(fault: &str) -> Instance {
    let options = Options(BTreeMap::from([("fault".into(), fault.into())]));
    BackendRef::linked::<Proxy>().unwrap().open(HostTable::leak(&Quiet), &options).unwrap()
}

struct Proxy {
    behind: &'static Instance,
    fault: String,
}

struct ProxyModel {
    behind: &'static client::Model<'static>,
    fault: String,
    runs: AtomicUsize,
}

struct ProxyRequest {
    behind: client::Request<'static>,
    model: Arc<ProxyModel>,
    /// Of the last run, by output.
    made: Vec<Option<HostTensor>>,
    /// Runs in a row that took what was kept.
    steps: usize,
}

impl Backend for Proxy {
    const ID: &'static CStr = c"proxy";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    const OFFERS: Offers = Offers { alias: true, ..Offers::NONE };
    type Model = ProxyModel;

    fn open(_: Host, options: &Options) -> Result<Proxy> {
        let behind = Box::leak(Box::new(crate::stand::rten()));
        Ok(Proxy { behind, fault: options.get("fault").unwrap_or_default().into() })
    }

    fn devices(&self) -> Vec<Device> {
        self.behind.devices().unwrap()
    }

    fn load(&self, load: &Load) -> Result<ProxyModel> {
        Ok(ProxyModel {
            behind: Box::leak(Box::new(self.behind.load(load)?)),
            fault: self.fault.clone(),
            runs: AtomicUsize::new(0),
        })
    }
}

impl Model for ProxyModel {
    type Request = ProxyRequest;

    fn placement(&self) -> Placement {
        self.behind.placement().unwrap()
    }

    fn inputs(&self) -> &[Port] {
        self.behind.inputs()
    }

    fn outputs(&self) -> &[Port] {
        self.behind.outputs()
    }

    fn request(self: &Arc<Self>) -> Result<ProxyRequest> {
        Ok(ProxyRequest { behind: self.behind.request()?, model: self.clone(), made: vec![], steps: 0 })
    }
}

fn copied(tensor: &Bound) -> HostTensor {
    let mut copy = HostTensor::zeroed(tensor.dtype(), tensor.shape()).unwrap();
    let bytes: Vec<u8> = match tensor.dtype() {
        DType::I64 => tensor.as_slice::<i64>().unwrap().iter().flat_map(|value| value.to_ne_bytes()).collect(),
        _ => tensor.as_slice::<f32>().unwrap().iter().flat_map(|value| value.to_ne_bytes()).collect(),
    };
    copy.bytes_mut().copy_from_slice(&bytes);
    copy
}

impl ProxyRequest {
    /// What is seen of an input: one that is blind to masks sees all that is there.
    fn seen(&self, input: usize, mut tensor: HostTensor) -> HostTensor {
        if self.model.fault == "blind" && self.model.inputs()[input].name == "attention_mask" {
            let (elements, _) = tensor.bytes_mut().as_chunks_mut::<8>();
            elements.fill(1_i64.to_ne_bytes());
        }
        tensor
    }

    /// Whether a run finds another token than it should: where a server serves, or in the middle of a benchmark.
    fn finds_another(&self) -> bool {
        let run = self.model.runs.fetch_add(1, Ordering::SeqCst);
        match self.model.fault.as_str() {
            "in servers" => std::thread::current().name().is_some_and(|name| name.starts_with("server ")),
            "in the middle" => (20..50).contains(&run),
            _ => false,
        }
    }

    /// What becomes of a state on its way from one run to the next.
    fn kept(&self, mut state: HostTensor, before: Option<HostTensor>) -> HostTensor {
        match (self.model.fault.as_str(), before) {
            // The newest entry of the only sequence is lost once; sizes stay as they were.
            ("blank", _) if self.steps == 2 && state.shape().len() == 4 => {
                let row = state.shape()[3] * 4;
                let start = state.bytes().len() - row;
                state.bytes_mut()[start..].fill(0);
                state
            }
            ("old", Some(before)) if self.steps == 2 => before,
            _ => state,
        }
    }
}

impl Request for ProxyRequest {
    fn alias(&mut self, output: usize, _input: usize) -> Result<()> {
        match self.model.fault.as_str() {
            "none kept" => Err(Error::unimplemented(Why::NONE, "it keeps nothing")),
            // After the first one was taken.
            "some kept" if output > 1 => Err(Error::unimplemented(Why::NONE, "it keeps only the first")),
            "broken" => Err(Error::internal("the shelf has fallen down")),
            _ => Ok(()),
        }
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        let mut made = std::mem::take(&mut self.made);
        let inputs = self.model.inputs().len();
        self.steps = if (0..inputs).any(|input| bound.held(input).is_some()) { self.steps + 1 } else { 0 };
        for input in 0..inputs {
            let tensor = match bound.held(input) {
                None => self.seen(input, copied(bound.input(input)?)),
                Some(output) => {
                    let kept = made[output].take().ok_or_else(|| Error::internal("nothing was kept"))?;
                    // What went in before comes in again, in place of what came out.
                    let before = HostTensor::zeroed(kept.dtype(), &kept.shape()).ok();
                    self.kept(kept, before)
                }
            };
            self.behind.bind(Direction::Input, input as u32, Arc::new(tensor))?;
        }
        self.behind.run()?;
        let outputs = 0..self.model.outputs().len() as u32;
        self.made = outputs.map(|index| self.behind.take_output(index)?.to_host().map(Some)).collect::<Result<_>>()?;
        if self.finds_another() {
            let logits = self.made.iter_mut().flatten().filter(|output| output.shape().len() == 3);
            for logits in logits {
                let (elements, _) = logits.bytes_mut().as_chunks_mut::<4>();
                elements.iter_mut().for_each(|element| *element = (-f32::from_ne_bytes(*element)).to_ne_bytes());
            }
        }
        Ok(Timing::default())
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        let Some(made) = self.made.get_mut(index).and_then(Option::take) else { return Ok(None) };
        let data = made.as_slice::<f32>().ok_or_else(|| Error::new(Code::Internal, "only floats here"))?.to_vec();
        OwnedTensor::from_vec(&made.shape(), data).map(Some)
    }
}
