//! Devices, from what the browser found.

use crate::accelerator::Accelerator;
use crate::browser::Browser;
use serde_json::Value;
use skillbench_plugin_api::{Device, DeviceKind, Why};

/// The device that an accelerator is, or why it is none.
pub(crate) fn describe(
    id: &str,
    accelerator: Accelerator,
    found: &Value,
    software: Option<&str>,
    browser: &Browser,
) -> Device {
    let product = &browser.product;
    let mut device = Device {
        driver: format!("ONNX Runtime Web {}", browser.ort),
        ..Device::new(id, &format!("{product}, {}", accelerator.name()), DeviceKind::Browser)
    };
    let missing = match (found["reason"].as_str(), accelerator) {
        (Some(reason), _) => Some((Why::RUNTIME, format!("{reason}{}", hint(reason)))),
        (None, Accelerator::WebNn(asked)) if !only(&found["devices"], asked) => {
            let built = &found["devices"];
            let text =
                format!("it grants a context for '{asked}', but builds graphs for {built}, not for {asked} alone");
            Some((Why::DEVICE, text))
        }
        _ => None,
    };
    if let Some((why, reason)) = missing {
        device.why = why;
        device.reason = format!("{product} has no {} here: {reason}", accelerator.name());
        return device;
    }
    let adapter = &found["adapter"];
    match accelerator {
        Accelerator::WebNn("gpu") => device.emulated = software.is_some(),
        Accelerator::WebNn(_) => {}
        Accelerator::WebGpu => {
            let text = |key: &str| adapter[key].as_str().unwrap_or_default();
            device.vendor = text("vendor").into();
            device.arch = text("architecture").into();
            device.emulated = adapter["fallback"] == true || text("architecture") == "swiftshader";
        }
    }
    device
}

/// Whether a list of devices, as WebNN tells it of a graph, is just this one.
pub(crate) fn only(devices: &Value, asked: &str) -> bool {
    devices.as_array().is_some_and(|devices| devices.len() == 1 && devices[0] == asked)
}

/// What to do about a reason that does not say it.
fn hint(reason: &str) -> &'static str {
    match reason {
        _ if reason.contains("WebNN is disabled") => {
            ": its GPU process does not start; without a graphics driver it needs libvk_swiftshader.so, libvulkan.so.1 and \
             vk_swiftshader_icd.json beside it"
        }
        _ if reason.contains("navigator.ml is missing") => ": use a current Chromium, see the option `browser`",
        _ => "",
    }
}
