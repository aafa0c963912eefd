//! `config.json` and `preprocessor_config.json`, as far as they are asked for: every key may be missing or of another type.

use crate::user_models::files::Tree;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a model's exporter wrote beside it.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub path: PathBuf,
    /// What was read.
    pub files: Vec<PathBuf>,
    main: Value,
    preprocessor: Value,
}

/// Where a configuration keeps those of its parts.
const PARTS: [&str; 8] = [
    "text_config",
    "vision_config",
    "audio_config",
    "decoder",
    "encoder",
    "llm_config",
    "language_config",
    "thinker_config",
];

impl Config {
    /// Of a model's folder, or of the one around it where that is an exporter's `onnx` folder. `None`: there is none.
    ///
    /// # Errors
    /// A file that is there and is no JSON object, with its path.
    pub fn beside(folder: &Path, tree: &Tree) -> Result<Option<Config>, String> {
        let above = folder.file_name().is_some_and(|name| name == "onnx").then(|| folder.parent()).flatten();
        for folder in [Some(folder), above].into_iter().flatten() {
            let path = folder.join("config.json");
            if let Some(main) = object(tree, &path)? {
                let beside = folder.join("preprocessor_config.json");
                let preprocessor = object(tree, &beside)?;
                let mut files = vec![path.clone()];
                files.extend(preprocessor.is_some().then_some(beside));
                return Ok(Some(Config { path, files, main, preprocessor: preprocessor.unwrap_or_default() }));
            }
        }
        Ok(None)
    }

    #[cfg(test)]
    pub fn of(main: Value, preprocessor: Value) -> Config {
        Config { path: "config.json".into(), files: vec![], main, preprocessor }
    }

    pub fn model_type(&self) -> Option<&str> {
        self.main.get("model_type")?.as_str().filter(|text| !text.is_empty())
    }

    /// The classes that the model was made of.
    pub fn classes(&self) -> Vec<&str> {
        let many = self.main.get("architectures").and_then(Value::as_array).into_iter().flatten();
        many.chain(self.main.get("_class_name")).filter_map(Value::as_str).collect()
    }

    /// The first of these keys that holds a positive number, in the configuration itself or in that of a part.
    pub fn number(&self, keys: &[&str]) -> Option<(String, i64)> {
        let positive = |value: &Value, key: &str| value.get(key).and_then(Value::as_i64).filter(|number| *number > 0);
        for key in keys {
            if let Some(number) = positive(&self.main, key) {
                return Some((key.to_string(), number));
            }
            for part in PARTS {
                if let Some(number) = self.main.get(part).and_then(|part| positive(part, key)) {
                    return Some((format!("{part}.{key}"), number));
                }
            }
        }
        None
    }

    /// A number of the preprocessor.
    pub fn preprocessing(&self, key: &str) -> Option<i64> {
        self.preprocessor.get(key)?.as_i64().filter(|number| *number > 0)
    }

    /// Height and width of the images it takes, with the key that says so.
    pub fn image_size(&self) -> Option<(String, [i64; 2])> {
        let vision = self.main.get("vision_config");
        let of_main = [Some(&self.main), vision].into_iter().flatten().map(|config| (config, "image_size"));
        let of_preprocessor = ["crop_size", "size"].map(|key| (&self.preprocessor, key));
        let mut all = of_main.chain(of_preprocessor);
        all.find_map(|(config, key)| Some((key.to_string(), square(config.get(key)?)?)))
    }
}

fn object(tree: &Tree, path: &Path) -> Result<Option<Value>, String> {
    let text = match tree.text(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value.is_object() => Ok(Some(value)),
        Ok(_) => Err(format!("{} is no JSON object", path.display())),
        Err(error) => Err(format!("{} is no JSON: {error}", path.display())),
    }
}

/// Exporters write one number, two, or an object.
fn square(value: &Value) -> Option<[i64; 2]> {
    let number = |value: &Value| value.as_i64().filter(|number| (1..1 << 16).contains(number));
    if let Some(size) = number(value).or_else(|| number(value.get("shortest_edge")?)) {
        return Some([size, size]);
    }
    let [height, width] = match value.as_array().map(Vec::as_slice) {
        Some([height, width]) => [height, width],
        _ => [value.get("height")?, value.get("width")?],
    };
    Some([number(height)?, number(width)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_found_in_the_configuration_of_a_part_too() {
        let config = Config::of(json!({"text_config": {"vocab_size": 9}, "n_positions": -1}), Value::Null);
        assert_eq!(config.number(&["vocab_size"]), Some(("text_config.vocab_size".into(), 9)));
        assert_eq!(config.number(&["n_positions"]), None);
    }

    #[test]
    fn image_sizes_come_in_many_forms() {
        let size = |main: Value, preprocessor: Value| Config::of(main, preprocessor).image_size().map(|(_, size)| size);
        assert_eq!(size(json!({"image_size": 384}), Value::Null), Some([384, 384]));
        assert_eq!(size(json!({"vision_config": {"image_size": [32, 64]}}), Value::Null), Some([32, 64]));
        assert_eq!(size(json!({}), json!({"size": {"height": 8, "width": 9}})), Some([8, 9]));
        assert_eq!(size(json!({"image_size": "large"}), json!({"crop_size": 224})), Some([224, 224]));
        assert_eq!(size(json!({}), json!({"size": {}})), None);
    }

    #[test]
    fn a_configuration_that_is_no_json_is_told_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Config::beside(folder.path(), &Tree::of_folder(folder.path()).unwrap()).unwrap().is_none());
        std::fs::write(folder.path().join("config.json"), "{").unwrap();
        assert!(
            Config::beside(folder.path(), &Tree::of_folder(folder.path()).unwrap())
                .unwrap_err()
                .contains("config.json")
        );
    }
}
