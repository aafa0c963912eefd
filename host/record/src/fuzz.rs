//! Documents of runs that nobody's host wrote, and texts from the command line.

use crate::catalog::{self, Limit};
use crate::{Axes, BackendChoice, Cell, OptionChoice, Run, RunRequest, time};

/// Whether a document is read, and read again as it is written.
fn document<T: serde::de::DeserializeOwned + serde::Serialize>(bytes: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    match serde_json::from_slice::<T>(&written) {
        Ok(_) => Some(read),
        Err(error) => panic!("what was written cannot be read: {error}\n{}", String::from_utf8_lossy(&written)),
    }
}

#[test]
fn run_json() {
    skillbench_fuzz::fuzz("run-json", |bytes| {
        let Some(mut run) = document::<Run>(bytes) else { return false };
        run.upgrade(Some(&RunRequest::default()));
        for cell in &run.cells {
            let key = cell.key(&run);
            drop((key.digest(), key.attempt_digest(), cell.trust(), cell.has_figures()));
        }
        true
    });
}

#[test]
fn cell_json() {
    skillbench_fuzz::fuzz("cell-json", |bytes| {
        let Some(cell) = document::<Cell>(bytes) else { return false };
        for metric in catalog::metrics() {
            drop(format!("{}<=1", metric.name).parse::<Limit>().map(|limit| limit.check(&cell)));
        }
        true
    });
}

#[test]
fn request_json() {
    skillbench_fuzz::fuzz("request-json", |bytes| document::<RunRequest>(bytes).is_some());
}

#[test]
fn words() {
    skillbench_fuzz::fuzz("words", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let backend = BackendChoice::parse(&text);
        drop((backend, time::moment(&text)));
        let axes = text.parse::<Axes>();
        if let Ok(axes) = &axes {
            assert_eq!(axes.to_string().parse::<Axes>().as_ref(), Ok(axes), "axes are read as they are written");
        }
        axes.is_ok() | text.parse::<Limit>().is_ok() | OptionChoice::parse(&text).is_ok()
    });
}
