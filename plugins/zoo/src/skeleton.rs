//! The shipped graphs: `data/NAME.onnx.zst`, inside this library.

use crate::skills;
use skillbench_plugin_api::{Error, Result};
use std::io::Read;

include!(concat!(env!("OUT_DIR"), "/skeletons.rs"));

#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    SKELETONS.iter().map(|(name, _)| *name)
}

/// The ONNX file of a skeleton, which has to be the one its record tells of.
pub fn unpack(name: &str, sha256: &str) -> Result<Vec<u8>> {
    let broken = |what: String| Error::internal(format!("the skeleton '{name}' inside the zoo plugin {what}"));
    let packed = SKELETONS.iter().find(|(known, _)| *known == name).ok_or_else(|| broken("is missing".into()))?.1;
    let mut skeleton = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(packed)
        .map_err(|error| broken(format!("does not unpack: {error}")))?
        .read_to_end(&mut skeleton)
        .map_err(|error| broken(format!("does not unpack: {error}")))?;
    match skills::sha256(&[&skeleton]) {
        found if found == sha256 => Ok(skeleton),
        found => Err(broken(format!("has SHA-256 {found}, its record says {sha256}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skeleton_has_a_record_and_every_record_its_skeleton() {
        let parts: Vec<_> = skills::all().iter().flat_map(|skill| skill.parts()).collect();
        let mut records: Vec<&str> = parts.iter().filter(|p| p.axes.is_none()).map(|part| part.skeleton).collect();
        records.sort_unstable();
        assert_eq!(SKELETONS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), records);
        for part in parts {
            unpack(part.skeleton, part.sha256).unwrap();
        }
    }

    #[test]
    fn a_skeleton_with_another_hash_is_refused() {
        let error = unpack("bert-tiny", "00").unwrap_err();
        assert!(error.message.contains("its record says 00"), "{error}");
    }
}
