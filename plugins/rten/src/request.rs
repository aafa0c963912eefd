//! One lane of work: bound inputs, a run, its outputs.

use crate::convert::{self, Feed};
use crate::errors;
use crate::model::RtenModel;
use rten::{RunOptions, Value, ValueOrView};
use skillbench_plugin_api::sdk::{Bindings, Bound, Model, Request};
use skillbench_plugin_api::{OwnedTensor, Result, Timing};
use std::sync::Arc;

pub struct RtenRequest {
    model: Arc<RtenModel>,
    feeds: Vec<Feed>,
    /// Outputs of the last run that nobody has taken yet; rten allocates them anew in each.
    outputs: Vec<Option<Value>>,
}

impl RtenRequest {
    pub(crate) fn new(model: Arc<RtenModel>) -> RtenRequest {
        let feeds = model.inputs().iter().map(|_| Feed::InPlace).collect();
        RtenRequest { model, feeds, outputs: vec![] }
    }
}

impl Request for RtenRequest {
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        self.feeds[index] = Feed::bind(&self.model.inputs()[index].name, tensor)?;
        Ok(())
    }

    /// Every output is a value of rten's that the next run can be given; nothing is copied.
    fn alias(&mut self, _output: usize, _input: usize) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        let engine = &self.model.engine;
        let RtenRequest { feeds, outputs, .. } = self;
        let mut inputs = Vec::with_capacity(feeds.len());
        for (index, (id, feed)) in engine.input_ids().iter().zip(feeds).enumerate() {
            let kept = bound.held(index).and_then(|output| outputs.get_mut(output)?.take());
            // A value that is given away with the run may be worked on in place.
            let input: ValueOrView<'_> = match kept {
                Some(value) => value.into(),
                None => feed.view(bound.input(index)?)?.into(),
            };
            inputs.push((*id, input));
        }
        // The last run's outputs go first: two sets of them at once would count as the model's memory.
        outputs.clear();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.model.pool)));
        let run = |options| {
            let outputs = engine.run(inputs, engine.output_ids(), Some(options));
            outputs.map_err(|error| errors::running(&error))
        };
        let (outputs, timing) = bound.timed(|| match &self.model.recorder {
            None => run(options),
            Some(recorder) => recorder.run(options, run),
        })?;
        self.outputs = outputs.into_iter().map(Some).collect();
        Ok(timing)
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        let port = &self.model.outputs()[index];
        let value = self.outputs.get_mut(index).and_then(Option::take);
        value.map(|value| convert::output(&port.name, port.dtype, value)).transpose()
    }
}
