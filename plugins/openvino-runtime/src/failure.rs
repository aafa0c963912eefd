//! What OpenVINO says where something goes wrong.

use openvino_sys::{ov_free, ov_get_last_err_msg, ov_status_e};
use skillbench_plugin_api::{Code, Error, Why};
use std::ffi::{CStr, c_char};

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub status: i32,
    /// The whole text, lines about source files and all.
    pub text: String,
}

impl Failure {
    pub(crate) fn here(text: &str) -> Failure {
        Failure { status: 0, text: text.into() }
    }

    /// What the text says, on one line, without the places in OpenVINO's sources.
    pub fn said(&self) -> String {
        let place = |line: &&str| line.starts_with("Exception from ") || line.starts_with("Check '");
        let lines: Vec<&str> = self.text.lines().filter(|line| !place(line)).collect();
        let said = short(&lines.join(" "));
        if said.is_empty() { short(&self.text) } else { said }
    }

    pub fn out_of_memory(&self) -> bool {
        ["bad_alloc", "CL_OUT_OF_RESOURCES", "CL_MEM_OBJECT_ALLOCATION_FAILURE"]
            .iter()
            .any(|part| self.text.contains(part))
    }

    /// As an error of a step that is not the model's fault.
    pub fn error(&self, doing: &str) -> Error {
        let code = if self.out_of_memory() { Code::ResourceExhausted } else { Code::Internal };
        let why = if self.out_of_memory() { Why::MEMORY } else { Why::NONE };
        let text = format!("OpenVINO fails to {doing}: {}", self.said());
        Error { vendor_code: self.status, ..Error::new(code, text).because(why) }
    }
}

/// # Errors
/// What the status, and the message kept with it, say.
pub(crate) fn check(status: ov_status_e) -> Result<(), Failure> {
    if status == ov_status_e::OK {
        return Ok(());
    }
    // SAFETY: no arguments; the text is a copy that is ours.
    let text = unsafe { taken(ov_get_last_err_msg()) };
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| format!("{status:?}"));
    Err(Failure { status: status as i32, text })
}

/// Takes over a text that OpenVINO allocated.
///
/// # Safety
/// `text` is null or was just handed out by OpenVINO, to be freed with `ov_free`.
pub(crate) unsafe fn taken(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller promises a text of OpenVINO's, which ends with NUL.
    let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // SAFETY: freed once, and not used again.
    unsafe { ov_free(text) };
    Some(copy)
}

/// The first part of a text, on one line: messages of OpenVINO and of loaders can be pages.
pub fn short(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(240) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn places_in_sources_are_left_out() {
        let text =
            "Exception from src/a.cpp:84:\nCheck 'false' failed at src/b.cpp:151:\nNo rule for:\n  Frobnicate-17\n\n";
        assert_eq!(Failure::here(text).said(), "No rule for: Frobnicate-17");
        assert_eq!(Failure::here("Exception from src/a.cpp:84:").said(), "Exception from src/a.cpp:84:");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let said = Failure::here(&"ä\n".repeat(500)).said();
        assert!(said.ends_with(" ...") && said.chars().count() == 244);
    }
}
