//! What operators cost, by OpenVINO's own counts: means over all runs since the model was compiled, those before the recording
//! included. They cannot be set back, and tell no moments.

use crate::compiled::Node;
use crate::failure::Failure;
use skillbench_plugin_api::sdk::Profile;
use skillbench_plugin_api::{Code, Error, Operator, Result};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Recorder {
    device: String,
    /// The nodes after the last run; none while nothing is recorded.
    last: Mutex<Option<Vec<Node>>>,
}

impl Recorder {
    pub fn new(device: &str) -> Recorder {
        Recorder { device: device.into(), last: Mutex::default() }
    }

    /// A request has run, and can tell the nodes.
    ///
    /// # Errors
    /// What OpenVINO says.
    pub fn ran(&self, nodes: impl FnOnce() -> Result<Vec<Node>, Failure>) -> Result<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some() {
            *last = Some(nodes().map_err(|failure| failure.error("tell what its operators cost"))?);
        }
        Ok(())
    }
}

impl Profile for Recorder {
    fn begin(&self) -> Result<()> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(vec![]);
        Ok(())
    }

    fn end(&self) -> Result<Vec<Operator>> {
        let nodes = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let text = "nothing is being recorded: begin first";
        let nodes = nodes.ok_or_else(|| Error::new(Code::FailedPrecondition, text))?;
        let operator = |node: Node| {
            Some(Operator {
                duration_ns: node.mean?.as_nanos() as u64,
                name: node.name,
                kind: node.kind,
                kernel: node.kernel,
                device: self.device.clone(),
                ..Operator::default()
            })
        };
        Ok(nodes.into_iter().filter_map(operator).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_did_not_run_is_not_told_and_what_did_is_a_mean_without_a_moment() {
        let recorder = Recorder::new("CPU");
        let node = |kind: &str, mean| Node { kind: kind.into(), mean, ..Node::default() };
        recorder.ran(|| panic!("nobody asked")).unwrap();
        assert_eq!(recorder.end().unwrap_err().code, Code::FailedPrecondition);
        recorder.begin().unwrap();
        let after = |us| vec![node("MatMul", Some(Duration::from_micros(us))), node("Result", None)];
        recorder.ran(|| Ok(after(90))).unwrap();
        recorder.ran(|| Ok(after(60))).unwrap();
        let [product] = &recorder.end().unwrap()[..] else { panic!("one operator") };
        assert_eq!((product.kind.as_str(), product.duration_ns, product.device.as_str()), ("MatMul", 60_000, "CPU"));
        assert_eq!((product.run, product.start_ns), (None, None));
    }
}
