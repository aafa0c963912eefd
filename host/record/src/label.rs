//! What people call the parts of a key, the same everywhere.

/// Hardware as tables and charts call it: the backend, its device where several are about, and in parentheses what is not as usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct HardwareLabel<'a> {
    pub plugin: &'a str,
    /// `None`: one device of the backend is about.
    pub device: Option<&'a str>,
    /// As [`crate::options_text`] has them.
    pub options: Option<&'a str>,
    /// `None`: one number of threads is about, or nobody knows it.
    pub threads: Option<u64>,
    /// `None`: one number of requests at once is about.
    pub workers: Option<u64>,
    /// Backends that ran at the same time.
    pub beside: Option<&'a str>,
}

impl std::fmt::Display for HardwareLabel<'_> {
    /// "openvino:GPU (cache=off, 2 threads, 8 at once, beside rten)".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.plugin)?;
        self.device.iter().try_for_each(|device| write!(f, ":{device}"))?;
        let threads = self.threads.map(|n| if n == 1 { "1 thread".to_string() } else { format!("{n} threads") });
        let workers = self.workers.map(|n| format!("{n} at once"));
        let beside = self.beside.map(|beside| format!("beside {beside}"));
        let unusual = [self.options.map(String::from), threads, workers, beside];
        let unusual: Vec<String> = unusual.into_iter().flatten().collect();
        match unusual.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", unusual.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HardwareLabel;

    #[test]
    fn what_is_unusual_stands_in_parentheses() {
        let plain = HardwareLabel { plugin: "cpu", ..HardwareLabel::default() };
        assert_eq!(plain.to_string(), "cpu");
        let full = HardwareLabel {
            plugin: "openvino",
            device: Some("GPU"),
            options: Some("cache=off"),
            threads: Some(2),
            workers: Some(8),
            beside: Some("rten"),
        };
        assert_eq!(full.to_string(), "openvino:GPU (cache=off, 2 threads, 8 at once, beside rten)");
    }
}
