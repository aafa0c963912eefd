//! Whatever goes away, a call ends with an error that says so, and the next load works.

use super::{answer, bound, open, probe_on};
use serde_json::json;
use skillbench_browser::BrowserEngine;
use skillbench_plugin_api::client::{Instance, Request};
use skillbench_plugin_api::{Code, Error};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

fn fails_soon(request: &mut Request) -> Error {
    let started = Instant::now();
    loop {
        if let Err(error) = request.run() {
            return error;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it goes on as if nothing had happened");
    }
}

/// Runs without end, does this in the middle of it, and loads again.
fn lost_by(attack: impl FnOnce(&BrowserEngine) + Send) -> Error {
    let (instance, engine) = open(&[]);
    lose(&instance, &engine, 0, attack)
}

fn lose(
    instance: &Instance,
    engine: &Arc<BrowserEngine>,
    device: u32,
    attack: impl FnOnce(&BrowserEngine) + Send,
) -> Error {
    let model = instance.load(&probe_on(device)).unwrap();
    let before = answer(&model);
    let mut request = bound(&model);
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            attack(engine);
        });
        fails_soon(&mut request)
    });
    assert_eq!(request.run().unwrap_err().code, Code::Internal, "what is lost stays lost");
    let again = instance.load(&probe_on(device)).unwrap();
    assert_eq!(answer(&again), before, "the next load works");
    error
}

#[test]
#[cfg(unix)]
fn a_killed_browser_is_an_error_and_the_next_load_starts_another() {
    let error = lost_by(|engine| {
        let killed = Command::new("kill").args(["-KILL", &engine.process_id().to_string()]).status();
        assert!(killed.unwrap().success());
    });
    assert_eq!(error.code, Code::Internal);
    assert!(error.message.contains("the browser ended (signal: 9"), "{error}");
}

#[test]
fn a_crashed_tab_is_an_error_and_the_next_load_starts_another() {
    // The tab is gone before it could answer.
    let error = lost_by(|engine| drop(engine.devtools("Page.crash", json!({}))));
    assert_eq!(error.code, Code::Internal);
    assert!(error.message.contains("the tab crashed"), "{error}");
}

#[test]
fn a_crashed_gpu_process_is_an_error_on_webgpu_and_the_next_load_starts_another() {
    let (instance, engine) = open(&[]);
    let error = lose(&instance, &engine, 1, |engine| drop(engine.devtools("Browser.crashGpuProcess", json!({}))));
    assert_eq!(error.code, Code::Internal);
    assert!(error.message.contains("its device is gone"), "{error}");
}

#[test]
fn a_crashed_gpu_process_does_not_change_what_webnn_computes_on_the_cpu() {
    let (instance, engine) = open(&[]);
    let model = instance.load(&probe_on(0)).unwrap();
    let before = answer(&model);
    engine.devtools("Browser.crashGpuProcess", json!({})).unwrap();
    thread::sleep(Duration::from_millis(500));
    let mut request = bound(&model);
    match request.run() {
        Ok(()) => assert_eq!(request.take_output(0).unwrap().to_host().unwrap().as_slice::<f32>().unwrap(), before),
        // A browser that keeps WebNN in that process.
        Err(error) => assert!(error.message.contains("its device is gone"), "{error}"),
    }
    assert_eq!(answer(&instance.load(&probe_on(0)).unwrap()), before);
}

#[test]
fn a_page_that_hangs_is_given_up_at_the_deadline() {
    let (instance, engine) = open(&[("call_timeout_s", "3")]);
    let error = lose(&instance, &engine, 0, |engine| {
        let hang = json!({ "expression": "setTimeout(() => { for (;;); }, 0)" });
        engine.devtools("Runtime.evaluate", hang).unwrap();
    });
    assert_eq!(error.code, Code::DeadlineExceeded);
    assert!(error.message.contains("within 3 s") && error.message.contains("call_timeout_s"), "{error}");
}

#[test]
fn a_browser_that_ended_between_two_loads_is_replaced() {
    let (instance, engine) = open(&[]);
    let before = answer(&instance.load(&probe_on(0)).unwrap());
    engine.devtools("Browser.close", json!({})).unwrap();
    // It answers until it is gone.
    while engine.devtools("Browser.getVersion", json!({})).is_ok() {}
    thread::sleep(Duration::from_millis(500));
    assert_eq!(answer(&instance.load(&probe_on(0)).unwrap()), before);
}

#[test]
#[cfg(target_os = "linux")]
fn a_closed_instance_leaves_neither_process_nor_profile() {
    let (instance, engine) = open(&[]);
    let process = format!("/proc/{}", engine.process_id());
    let arguments = std::fs::read_to_string(format!("{process}/cmdline")).unwrap();
    let profile = arguments.split('\0').find_map(|part| part.strip_prefix("--user-data-dir=")).unwrap().to_string();
    assert!(std::path::Path::new(&profile).is_dir());
    drop(engine);
    drop(instance);
    let folder = std::path::Path::new(&profile).parent().unwrap();
    assert!(!std::path::Path::new(&process).exists() && !folder.exists());
}
