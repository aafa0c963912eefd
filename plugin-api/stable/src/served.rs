//! The SDK's models, requests and outputs as objects: those of a plugin's own backend, and those of a target that the host lends.

use crate::abi::{
    Answer, ElementType, Failure, Model, Model_TO, ModelBox, Operator, Output, Output_TO, OutputBox, Placement, Port,
    Request, Request_TO, RequestBox, Tensor, Timing,
};
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{ROption, RSlice, RVec};
use skillbench_plugin_api::client::{self, Recording};
use skillbench_plugin_api::raw::{SB_HOST_MEMORY, SB_INPUT, SB_OUTPUT, sb_place, sb_tensor};
use skillbench_plugin_api::{self as api, Code, Error, Why};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What keeps a model loaded, and what can be done with it besides running it.
pub(crate) trait Loaded: Send + Sync + 'static {
    fn model(&self) -> &client::Model<'static>;

    fn recording(&self) -> Option<Recording<'_>> {
        None
    }

    fn prepare(&self, _request: &mut client::Request<'static>, _variant: u64) -> api::Result<()> {
        Err(of_targets_only())
    }

    fn verify(&self, _request: &mut client::Request<'static>) -> api::Result<()> {
        Err(of_targets_only())
    }
}

fn of_targets_only() -> Error {
    Error::unimplemented(Why::NONE, "only the requests of a target are prepared and verified by the host")
}

/// A result of the SDK as it crosses.
pub(crate) fn answer<T>(result: api::Result<T>) -> Answer<T> {
    result.map_err(Failure::from).into()
}

/// What crossed as a result of the SDK.
pub(crate) fn taken<T>(answer: Answer<T>) -> api::Result<T> {
    answer.into_result().map_err(Error::from)
}

/// A model that is served until it is ended: then it is let go, whoever still has an object of it.
pub(crate) struct Served<L: Loaded> {
    loaded: Mutex<Option<Arc<L>>>,
    lanes: Mutex<Vec<Weak<Slot<L>>>>,
}

/// The place of a request that may be ended.
type Slot<L> = Mutex<Option<Lane<L>>>;

/// A request and what keeps its model; the request goes first.
struct Lane<L> {
    request: client::Request<'static>,
    loaded: Arc<L>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn ended() -> Error {
    Error::new(Code::FailedPrecondition, "the benchmark has returned: its target is gone")
}

impl<L: Loaded> Served<L> {
    pub fn new(loaded: L) -> Arc<Served<L>> {
        Arc::new(Served { loaded: Mutex::new(Some(Arc::new(loaded))), lanes: Mutex::default() })
    }

    pub fn object(self: &Arc<Served<L>>) -> ModelBox {
        Model_TO::from_value(ServedModel(self.clone()), TD_Opaque)
    }

    /// Lets requests and model go. It waits for a request that runs.
    pub fn end(&self) {
        // Before the requests, so that none is made after them.
        let loaded = locked(&self.loaded).take();
        for lane in locked(&self.lanes).drain(..).filter_map(|lane| lane.upgrade()) {
            drop(locked(&lane).take());
        }
        drop(loaded);
    }

    /// Nothing ends while `work` is at it.
    fn with<T>(&self, work: impl FnOnce(&Arc<L>) -> api::Result<T>) -> api::Result<T> {
        work(locked(&self.loaded).as_ref().ok_or_else(ended)?)
    }

    fn request(&self, loaded: &Arc<L>) -> api::Result<RequestBox> {
        let request = client::Model::request_of(loaded.clone(), L::model)?;
        let lane = Arc::new(Mutex::new(Some(Lane { request, loaded: loaded.clone() })));
        let mut lanes = locked(&self.lanes);
        lanes.retain(|lane| lane.strong_count() > 0);
        lanes.push(Arc::downgrade(&lane));
        Ok(Request_TO::from_value(ServedRequest(lane), TD_Opaque))
    }
}

struct ServedModel<L: Loaded>(Arc<Served<L>>);

impl<L: Loaded> ServedModel<L> {
    fn with<T>(&self, work: impl FnOnce(&L) -> api::Result<T>) -> Answer<T> {
        answer(self.0.with(|loaded| work(loaded)))
    }

    fn recorded<T>(&self, work: impl FnOnce(Recording<'_>) -> api::Result<T>) -> Answer<T> {
        let none = || Error::unimplemented(Why::NONE, "this model records no operators");
        self.with(|loaded| work(loaded.recording().ok_or_else(none)?))
    }
}

impl<L: Loaded> Model for ServedModel<L> {
    fn inputs(&self) -> Answer<RVec<Port>> {
        self.with(|loaded| Ok(loaded.model().inputs().iter().map(Port::from).collect()))
    }

    fn outputs(&self) -> Answer<RVec<Port>> {
        self.with(|loaded| Ok(loaded.model().outputs().iter().map(Port::from).collect()))
    }

    fn placement(&self) -> Answer<Placement> {
        self.with(|loaded| loaded.model().placement().map(Placement::from))
    }

    fn request(&self) -> Answer<RequestBox> {
        answer(self.0.with(|loaded| self.0.request(loaded)))
    }

    fn begin_profile(&self) -> Answer<()> {
        self.recorded(|recording| recording.begin())
    }

    fn end_profile(&self) -> Answer<RVec<Operator>> {
        self.recorded(|recording| Ok(recording.end()?.into_iter().map(Operator::from).collect()))
    }
}

struct ServedRequest<L: Loaded>(Arc<Slot<L>>);

impl<L: Loaded> ServedRequest<L> {
    fn with<T>(&self, work: impl FnOnce(&mut Lane<L>) -> api::Result<T>) -> Answer<T> {
        answer(locked(&self.0).as_mut().ok_or_else(ended).and_then(work))
    }

    fn bind(&self, direction: i32, index: u32, tensor: &Tensor<'_>) -> Answer<()> {
        let mut shape: Vec<i64> = tensor.shape.to_vec();
        let tensor = sb_tensor {
            data: tensor.data.cast(),
            place: sb_place { r#type: SB_HOST_MEMORY, id: 0 },
            ndim: shape.len() as i32,
            dtype: tensor.element.raw(),
            shape: shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        // SAFETY: the caller of the object keeps the data until the port is bound again or the request goes; the struct is copied.
        self.with(|lane| unsafe { lane.request.bind_lent(direction, index, &raw const tensor, std::ptr::null()) })
    }
}

impl<L: Loaded> Request for ServedRequest<L> {
    fn bind_input(&mut self, index: u32, tensor: Tensor<'_>) -> Answer<()> {
        self.bind(SB_INPUT, index, &tensor)
    }

    fn bind_output(&mut self, index: u32, tensor: ROption<Tensor<'_>>) -> Answer<()> {
        match tensor.into_option() {
            Some(tensor) => self.bind(SB_OUTPUT, index, &tensor),
            None => self.with(|lane| lane.request.leave_output(index)),
        }
    }

    fn alias(&mut self, output: u32, input: u32) -> Answer<()> {
        self.with(|lane| lane.request.alias(output, input))
    }

    fn reset(&mut self) -> Answer<()> {
        self.with(|lane| lane.request.reset())
    }

    fn run(&mut self) -> Answer<Timing> {
        self.with(|lane| lane.request.run_with_timing().map(Timing::from))
    }

    fn output(&mut self, index: u32) -> Answer<OutputBox> {
        self.with(|lane| Ok(Output_TO::from_value(Given(lane.request.take_output(index)?), TD_Opaque)))
    }

    fn prepare(&mut self, variant: u64) -> Answer<()> {
        self.with(|lane| lane.loaded.prepare(&mut lane.request, variant))
    }

    fn verify(&mut self) -> Answer<()> {
        self.with(|lane| lane.loaded.verify(&mut lane.request))
    }
}

struct Given(client::Output);

impl Output for Given {
    fn element(&self) -> ElementType {
        self.0.dtype().into()
    }

    fn shape(&self) -> RVec<i64> {
        self.0.shape().iter().map(|dim| *dim as i64).collect()
    }

    fn bytes(&self) -> RSlice<'_, u8> {
        self.0.bytes().into()
    }
}
