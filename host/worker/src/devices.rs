//! The devices that a target is measured on: one of a backend's, or several that it loads a model onto together.
//!
//! One is asked for by its id or its place, several by those with `+` between: `0+1`, `GPU.0+GPU.1`. The host treats what is chosen
//! as one device with the ids joined, and a backend tells the same name in its placement, or the load is a fallback.

use crate::DeviceRecord;

/// Between the ids of devices that one model is loaded onto.
pub const JOINED_BY: char = '+';

/// Devices of a backend, as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Of the devices, in the order that was asked for.
    pub indices: Vec<u32>,
    /// What they are together; not usable where one of them is not.
    pub device: DeviceRecord,
}

/// The devices that are asked for, which may not be usable; with nothing asked, the first that can be used.
///
/// # Errors
/// There is no such device, or one is asked for twice, with those that there are.
pub fn choose(asked: Option<&str>, devices: &[DeviceRecord]) -> Result<Chosen, String> {
    let Some(asked) = asked else {
        if let Some(index) = devices.iter().position(|device| device.usable) {
            return Ok(Chosen { indices: vec![index as u32], device: devices[index].clone() });
        }
        return Err(match devices.iter().find(|device| !device.reason.is_empty()) {
            Some(device) => format!("no device can be used: {}", device.reason),
            None => "the backend found no device".into(),
        });
    };
    // An id that has the sign in it is still an id.
    let indices = match find(asked, devices) {
        Some(index) => vec![index],
        None => {
            let missing = |id: &str| {
                let ids: Vec<&str> = devices.iter().map(|device| device.id.as_str()).collect();
                format!("there is no device '{id}'; there is: {}", ids.join(", "))
            };
            let each = asked.split(JOINED_BY).map(str::trim);
            each.map(|id| find(id, devices).ok_or_else(|| missing(id))).collect::<Result<Vec<_>, _>>()?
        }
    };
    if let Some(twice) = (1..indices.len()).find(|at| indices[..*at].contains(&indices[*at])) {
        return Err(format!("device '{}' is asked for twice in '{asked}'", devices[indices[twice]].id));
    }
    let chosen: Vec<&DeviceRecord> = indices.iter().map(|index| &devices[*index]).collect();
    Ok(Chosen { device: together(&chosen), indices: indices.into_iter().map(|index| index as u32).collect() })
}

fn find(asked: &str, devices: &[DeviceRecord]) -> Option<usize> {
    let by_id = devices.iter().position(|device| device.id.eq_ignore_ascii_case(asked));
    by_id.or_else(|| asked.parse().ok().filter(|index| *index < devices.len()))
}

/// What several devices are together. What they differ in is told for each, in their order.
fn together(devices: &[&DeviceRecord]) -> DeviceRecord {
    if let [alone] = devices {
        return (*alone).clone();
    }
    let same = |of: fn(&DeviceRecord) -> &str, by: &str, count: bool| {
        let each: Vec<&str> = devices.iter().map(|device| of(device)).collect();
        match each.windows(2).all(|pair| pair[0] == pair[1]) {
            true if count => format!("{} x {}", each.len(), each[0]),
            true => each[0].to_string(),
            false => each.join(by),
        }
    };
    let kinds = same(|device| &device.kind, " ", false);
    let unusable = devices.iter().find(|device| !device.usable);
    DeviceRecord {
        id: same(|device| &device.id, &JOINED_BY.to_string(), false),
        name: same(|device| &device.name, " + ", true),
        kind: if kinds.contains(' ') { "other".into() } else { kinds },
        vendor: same(|device| &device.vendor, " + ", false),
        arch: same(|device| &device.arch, " + ", false),
        driver: same(|device| &device.driver, " + ", false),
        memory_bytes: devices.iter().map(|device| device.memory_bytes).sum(),
        emulated: devices.iter().any(|device| device.emulated),
        remote: devices.iter().any(|device| device.remote),
        usable: unusable.is_none(),
        reason: unusable.map(|device| format!("{}: {}", device.id, device.reason)).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(id: &str, memory_bytes: Option<u64>) -> DeviceRecord {
        let text = String::new;
        let (usable, kind) = (true, "gpu".to_string());
        DeviceRecord {
            id: id.into(),
            name: "Card".into(),
            kind,
            vendor: text(),
            arch: text(),
            driver: text(),
            memory_bytes,
            emulated: false,
            remote: false,
            usable,
            reason: text(),
        }
    }

    #[test]
    fn one_is_asked_for_by_its_id_or_its_place_and_several_with_a_plus_between() {
        let all = [device("GPU.0", Some(8)), device("GPU.1", Some(8)), device("a+b", None)];
        let indices = |asked| choose(asked, &all).map(|chosen| chosen.indices);
        assert_eq!(indices(None), Ok(vec![0]));
        assert_eq!(indices(Some("gpu.1")), Ok(vec![1]));
        assert_eq!(indices(Some("1")), Ok(vec![1]));
        assert_eq!(indices(Some("a+b")), Ok(vec![2]), "an id is an id");
        assert_eq!(indices(Some("1+GPU.0")), Ok(vec![1, 0]), "in the order that was asked for");
        assert!(indices(Some("0+0")).unwrap_err().contains("twice"));
        assert!(indices(Some("0+3")).unwrap_err().contains("no device '3'; there is: GPU.0, GPU.1, a+b"));
        assert!(indices(Some("0+")).unwrap_err().contains("no device ''"));
        assert!(choose(None, &[]).unwrap_err().contains("found no device"));
        let gone = DeviceRecord { usable: false, reason: "no driver".into(), ..device("0", None) };
        assert_eq!(choose(Some("0"), std::slice::from_ref(&gone)).map(|chosen| chosen.device.usable), Ok(false));
        assert_eq!(choose(None, &[gone]).unwrap_err(), "no device can be used: no driver");
    }

    #[test]
    fn several_are_told_as_one_device_that_is_what_all_of_them_are() {
        let mut all = [device("0", Some(8)), device("1", Some(8)), device("2", None)];
        let both = choose(Some("0+1"), &all).unwrap().device;
        assert_eq!((both.id.as_str(), both.name.as_str(), both.memory_bytes), ("0+1", "2 x Card", Some(16)));
        assert_eq!(choose(Some("1+2"), &all).unwrap().device.memory_bytes, None, "of one of them nobody knows");
        (all[1].usable, all[1].reason, all[1].kind) = (false, "no driver".into(), "npu".into());
        let mixed = choose(Some("0+1"), &all).unwrap().device;
        assert_eq!((mixed.usable, mixed.reason.as_str(), mixed.kind.as_str()), (false, "1: no driver", "other"));
    }
}
