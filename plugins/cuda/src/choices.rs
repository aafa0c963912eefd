//! The options of the CUDA provider.

use skillbench_plugin_api::{Error, Options, Result};

/// What the user may choose. Unset is ONNX Runtime's own default, except for TF32.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// Multiply float32 as TF32, with a mantissa of 10 bits: what the reader of a float32 result does not expect.
    pub tf32: bool,
    conv_search: &'static str,
    memory_limit: Option<u64>,
    prefer_nhwc: bool,
}

impl Choices {
    /// # Errors
    /// `InvalidArgument`, naming the option.
    pub fn read(options: &Options) -> Result<Choices> {
        let conv_search = match options.get("cudnn_conv_algo_search") {
            None | Some("exhaustive") => "EXHAUSTIVE",
            Some("heuristic") => "HEURISTIC",
            Some("default") => "DEFAULT",
            Some(other) => {
                let text =
                    format!("option cudnn_conv_algo_search: '{other}' is none of exhaustive, heuristic, default");
                return Err(Error::invalid(text));
            }
        };
        Ok(Choices {
            tf32: options.parse("use_tf32")?.unwrap_or(false),
            conv_search,
            memory_limit: options.parse("gpu_mem_limit")?,
            prefer_nhwc: options.parse("prefer_nhwc")?.unwrap_or(false),
        })
    }

    /// As ONNX Runtime takes them.
    pub fn provider(&self) -> Vec<(String, String)> {
        let flag = |set: bool| if set { "1" } else { "0" };
        let mut options: Vec<(String, String)> = vec![
            ("use_tf32".into(), flag(self.tf32).into()),
            ("cudnn_conv_algo_search".into(), self.conv_search.into()),
            ("prefer_nhwc".into(), flag(self.prefer_nhwc).into()),
        ];
        options.extend(self.memory_limit.map(|bytes| ("gpu_mem_limit".into(), bytes.to_string())));
        options
    }
}

#[cfg(test)]
mod tests {
    use super::Choices;
    use skillbench_plugin_api::Options;

    fn read(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let options = Options(pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect());
        Choices::read(&options).map(|choices| choices.provider()).map_err(|error| error.message)
    }

    #[test]
    fn float32_stays_float32_unless_tf32_is_asked_for() {
        let tf32 = |value: &str| ("use_tf32".to_string(), value.to_string());
        assert!(read(&[]).unwrap().contains(&tf32("0")));
        assert!(read(&[("use_tf32", "true")]).unwrap().contains(&tf32("1")));
    }

    #[test]
    fn a_wrong_choice_is_refused_by_its_name() {
        for key in ["use_tf32", "gpu_mem_limit", "cudnn_conv_algo_search"] {
            let text = read(&[(key, "many")]).unwrap_err();
            assert!(text.contains(key) && text.contains("many"), "{text}");
        }
    }
}
