//! The rule about compiled models that a backend keeps in a folder (`sb_load.cache_dir`) and reads again.

use super::backend::{ensure, floats, for_batch, input, open, text};
use super::{Finding, Test};
use crate::CheckJob;
use crate::child::{Opened, Services};
use skillbench_plugin_api::{Direction, Load};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the probe gives for a batch, and whether its code came out of the cache.
fn run(opened: &Opened, job: &CheckJob, cache: &Path, rows: usize) -> Result<(Vec<f32>, Option<bool>), String> {
    let load = Load { cache_dir: Some(cache.into()), ..for_batch(&job.probe, rows as i64) };
    let model = opened.instance.load(&load).map_err(text)?;
    let hit = model.placement().map_err(text)?.cache_hit;
    let mut request = model.request().map_err(text)?;
    request.bind(Direction::Input, 0, Arc::new(input(rows, 1)?)).map_err(text)?;
    request.run().map_err(text)?;
    Ok((floats(&request.take_output(0).map_err(text)?), hit))
}

pub(super) fn compiled_cache(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let cache = job.scratch.join("compiled");
    std::fs::create_dir_all(&cache).map_err(text)?;
    let (want, first) = run(&opened, job, &cache, 2)?;
    let Some(first) = first else { return Err(Finding::NotOffered) };
    ensure(!first, "the first load, with an empty folder, is told as one from the cache")?;
    let files = files_below(&cache);
    ensure(!files.is_empty(), "it tells that it keeps compiled code, and writes none into the folder for it")?;
    let (have, second) = run(&opened, job, &cache, 2)?;
    ensure(second == Some(true), "the second load with the same folder compiles anew")?;
    ensure(have == want, "compiled code from the cache gives other outputs")?;

    // Code for another batch is other code.
    let (other, _) = run(&opened, job, &cache, 3)?;
    ensure(other.len() == 3 * 32, "compiled code for another batch was taken from the cache")?;

    // What is damaged is compiled anew or refused; it is never run.
    for file in files_below(&cache) {
        let bytes = std::fs::read(&file).map_err(text)?;
        let half = bytes.len() / 2;
        let damaged: Vec<u8> = bytes[..half].iter().map(|byte| byte ^ 0x55).collect();
        std::fs::write(&file, damaged).map_err(text)?;
    }
    match run(&opened, job, &cache, 2) {
        Ok((have, hit)) => {
            ensure(have == want, "a damaged cache gives other outputs")?;
            ensure(hit != Some(true), "a damaged cache is told as one that was used")
        }
        Err(message) => ensure(!message.trim().is_empty(), "a damaged cache is an error without a message"),
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(files_below(&path)),
            path => files.push(path),
        }
    }
    files
}
