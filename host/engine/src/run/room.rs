//! Whether a model fits this machine, known before anything is built.

use crate::skill::Skill;
use skillbench_worker::{DeviceRecord, Failure};

/// Part of a device's memory, and of the machine's, goes to what is no weight.
const FOR_WEIGHTS: f64 = 0.9;
const NOT_ENOUGH: &str = "does-not-fit";

/// What there is, in bytes; `None`: nobody says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// That a worker may use.
    pub memory: Option<u64>,
    /// Of the device, where it has its own.
    pub device: Option<u64>,
    /// Of the cache that models are built in. How much the disk has, the skillset looks at before it writes.
    pub cache: Option<u64>,
}

impl Room {
    pub fn on_device(self, device: Option<&DeviceRecord>) -> Room {
        let own =
            device.filter(|device| !device.emulated && device.kind != "cpu").and_then(|device| device.memory_bytes);
        Room { device: own.map(|bytes| (bytes as f64 * FOR_WEIGHTS) as u64), ..self }
    }

    /// The first of these that so many bytes do not fit in, and how many it has.
    fn lacks(&self, bytes: u64) -> Option<(&'static str, u64)> {
        let all = [
            ("of memory", self.memory),
            ("of memory on the device", self.device),
            ("in the cache of models", self.cache),
        ];
        all.into_iter().filter_map(|(what, there)| Some((what, there?))).find(|(_, there)| bytes > *there)
    }

    /// # Errors
    /// The weights of the model, in the form they are to be built in, are larger than what there is; with a form that fits.
    pub fn check(&self, skill: &Skill, form: Option<&str>) -> Result<(), Failure> {
        let needed = skill.bytes_estimate(form);
        let Some((what, there)) = self.lacks(needed) else { return Ok(()) };
        let fits = |form: &&String| self.lacks(skill.bytes_estimate(Some(form))).is_none();
        let advice = match skill.description.precisions.iter().find(fits) {
            Some(form) => {
                format!("--precision {form} needs {}", in_gb(skill.bytes_estimate(Some(form))))
            }
            None => "no precision of it fits: choose a smaller model".into(),
        };
        let text = format!(
            "the weights of {} in {} need {} {what}, and there are {}; {advice}",
            skill.id(),
            form.unwrap_or("float32"),
            in_gb(needed),
            in_gb(there),
        );
        Err(Failure::failed(NOT_ENOUGH, text))
    }
}

fn in_gb(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_models::SkillDescription;

    /// A billion parameters, all of them read.
    fn skill() -> Skill {
        let precisions = ["float16-stored", "int4"].map(String::from).into();
        let parameters = Some(1_000_000_000);
        let description = SkillDescription {
            id: "large".into(),
            parameters,
            parameters_read: parameters,
            precisions,
            ..Default::default()
        };
        Skill::described(description)
    }

    fn refusal(room: Room, form: Option<&str>) -> String {
        room.check(&skill(), form).unwrap_err().to_string()
    }

    #[test]
    fn what_is_lacking_is_said_with_a_precision_that_fits() {
        let room = Room { memory: Some(3_000_000_000), ..Room::default() };
        let text = refusal(room, None);
        for part in ["float32 need 4.0 GB of memory", "there are 3.0 GB", "--precision float16-stored needs 2.0 GB"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(room.check(&skill(), Some("int4")).is_ok());
    }

    #[test]
    fn the_cache_and_the_device_count_as_well_and_where_nothing_fits_that_is_said() {
        let small = Room { memory: Some(u64::MAX), cache: Some(1_000), device: None };
        assert!(refusal(small, Some("int4")).contains("0.6 GB in the cache of models"));
        let device = Room { device: Some(1_000), ..Room::default() };
        let text = refusal(device, Some("int4"));
        assert!(text.contains("of memory on the device") && text.contains("choose a smaller model"), "{text}");
    }

    #[test]
    fn what_nobody_says_refuses_nothing() {
        assert!(Room::default().check(&skill(), None).is_ok());
    }
}
