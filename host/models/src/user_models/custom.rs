//! Lists of models: in JSON (`{name: {name, family, size, modality, path}}`), or one id on a line. Errors name the file, the line
//! and the key.

use super::local;
use skillbench_record::located::{Field, Value, json};
use skillbench_record::suggest::did_you_mean;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A model of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomModel {
    /// What the list calls it.
    pub key: String,
    /// The name it is published under.
    pub name: String,
    pub family: Option<String>,
    pub size: Option<String>,
    pub modality: Option<String>,
    pub place: Place,
    pub line: usize,
}

/// Where a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file or a folder, in full or from the current folder.
    Path(PathBuf),
    /// The name of a skill, or the id of a model on a hub.
    Name(String),
}

impl Place {
    /// What a text means in a list that lies in this folder.
    fn of(text: &str, folder: &Path) -> Place {
        let path = folder.join(text);
        match local::is_path(text) || path.exists() {
            // A home is no folder of the list's.
            true if text.starts_with("~/") => Place::Path(skillbench_record::paths::expand(text)),
            true => Place::Path(path),
            false => Place::Name(text.into()),
        }
    }

    /// As a request names it.
    pub fn as_name(&self) -> String {
        match self {
            Place::Path(path) => std::path::absolute(path).unwrap_or(path.clone()).to_string_lossy().into_owned(),
            Place::Name(name) => name.clone(),
        }
    }
}

/// A list that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {text}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ListError {
    pub file: PathBuf,
    pub line: Option<usize>,
    pub text: String,
}

/// No list that anybody wrote is larger.
const LARGEST: u64 = 16 << 20;

fn text_of(file: &Path) -> Result<String, ListError> {
    let bad = |text: String| ListError { file: file.into(), line: None, text };
    let length = std::fs::metadata(file).map_err(|error| bad(format!("the list cannot be read: {error}")))?.len();
    if length > LARGEST {
        return Err(bad(format!("a list of {length} bytes; expected a list of models, not a model")));
    }
    std::fs::read_to_string(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => bad("it is no text; expected a list of models".into()),
        _ => bad(format!("the list cannot be read: {error}")),
    })
}

/// Reads a list of one id or path on each line; what follows a `#` is left aside.
///
/// # Errors
/// The first line that holds more than one, or one that stood before; a list without any.
pub fn read_lines(file: &Path) -> Result<Vec<Place>, ListError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = vec![];
    for (index, line) in text_of(file)?.lines().enumerate() {
        let bad = |text: String| ListError { file: file.into(), line: Some(index + 1), text };
        let comment = line.find('#').filter(|at| line[..*at].chars().next_back().is_none_or(char::is_whitespace));
        let line = line[..comment.unwrap_or(line.len())].trim().trim_start_matches('\u{FEFF}');
        if line.is_empty() {
            continue;
        }
        let place = Place::of(line, folder);
        if matches!(place, Place::Name(_)) && line.contains([' ', '\t', ',', ';', '"']) {
            return Err(bad(format!("expected one id on a line, found '{line}'")));
        }
        if let Some(first) = seen.insert(line.into(), index + 1) {
            return Err(bad(format!("'{line}' stands on line {first} already")));
        }
        all.push(place);
    }
    match all.is_empty() {
        true => Err(ListError {
            file: file.into(),
            line: None,
            text: "it names no model; expected one id on a line".into(),
        }),
        false => Ok(all),
    }
}

const KEYS: [&str; 5] = ["name", "family", "size", "modality", "path"];

/// Reads a list in JSON. A path is relative to the list's file; it may also be a skill's name or a model's id on a hub. Where
/// there is none, `name` is taken.
///
/// # Errors
/// The first entry that is not as it should be: file, line, key, and what was expected.
pub fn read_json(file: &Path) -> Result<Vec<CustomModel>, ListError> {
    let text = text_of(file)?;
    let bad = |line: usize, text: String| ListError { file: file.into(), line: Some(line), text };
    let root = json(&text).map_err(|malformed| bad(malformed.line, malformed.message))?;
    let Value::Table(root) = &root.value else {
        return Err(bad(1, format!("expected an object of models, {FORM}, found {}", root.value)));
    };
    if let Some(again) = root.twice().next() {
        let first = root.field(&again.key).map_or(again.line, |first| first.line);
        return Err(bad(again.line, format!("the name '{}' stands on line {first} already", again.key)));
    }
    let all = root.fields().iter().map(|field| model(field, file)).collect::<Result<Vec<_>, _>>()?;
    match all.is_empty() {
        true => Err(bad(1, format!("it names no model; expected {FORM}"))),
        false => Ok(all),
    }
}

const FORM: &str = r#"{"my-model": {"path": "model.onnx"}}"#;

fn model(entry: &Field, file: &Path) -> Result<CustomModel, ListError> {
    let key = &entry.key;
    let bad = |line: usize, text: String| ListError { file: file.into(), line: Some(line), text };
    let Value::Table(fields) = &entry.value.value else {
        let found = &entry.value.value;
        return Err(bad(entry.line, format!("'{key}': expected an object with {}, found {found}", KEYS.join(", "))));
    };
    for Field { key: name, line, value } in fields.fields() {
        if !KEYS.contains(&name.as_str()) {
            let hint = did_you_mean(name, KEYS);
            let text = format!("'{key}': the key '{name}' is not known{hint}; expected one of {}", KEYS.join(", "));
            return Err(bad(*line, text));
        }
        let Some(text) = value.value.text() else {
            return Err(bad(*line, format!("'{key}': '{name}' has to be a text, found {}", value.value)));
        };
        if text.trim().is_empty() {
            return Err(bad(*line, format!("'{key}': '{name}' is empty")));
        }
    }
    if let Some(again) = fields.twice().next() {
        let first = fields.field(&again.key).map_or(again.line, |first| first.line);
        return Err(bad(again.line, format!("'{key}': '{}' stands on line {first} already", again.key)));
    }
    let given = |name: &str| Some((fields.get(name)?.value.text()?.trim().to_string(), fields.field(name)?.line));
    if let Some((family, line)) = given("family") {
        let known = super::classify::families();
        if !known.contains(family.as_str()) {
            let hint = did_you_mean(&family, known.iter().copied());
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(bad(
                line,
                format!("'{key}': the family '{family}' is not known{hint}; expected one of {known}"),
            ));
        }
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let place = match (given("path"), given("name")) {
        (Some((path, line)), _) => match Place::of(&path, folder) {
            Place::Path(path) if !path.exists() => {
                let looked = path.display();
                return Err(bad(line, format!("'{key}': the path leads to nothing: looked for {looked}")));
            }
            place => place,
        },
        (None, Some((name, _))) => Place::Name(name),
        (None, None) => {
            let text =
                format!("'{key}': it lacks 'path': expected a file, a folder, a model's name or its id on a hub");
            return Err(bad(entry.line, text));
        }
    };
    let text = |name: &str| given(name).map(|(text, _)| text);
    Ok(CustomModel {
        key: key.clone(),
        name: text("name").unwrap_or_else(|| key.clone()),
        family: text("family"),
        size: text("size"),
        modality: text("modality"),
        place,
        line: entry.line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("models.json");
        std::fs::write(&file, text).unwrap();
        std::fs::write(folder.path().join("mine.onnx"), "x").unwrap();
        (folder, file)
    }

    fn refused(text: &str) -> (usize, String) {
        let (_folder, file) = list(text);
        let error = read_json(&file).unwrap_err();
        assert!(error.to_string().contains("models.json:"), "{error}");
        (error.line.unwrap(), error.text)
    }

    #[test]
    fn a_list_names_files_beside_itself_skills_and_ids() {
        let (folder, file) = list(
            r#"{
                "one": {"path": "mine.onnx", "family": "vision", "size": "small", "modality": "image"},
                "two": {"name": "openai/whisper-tiny", "family": "audio", "size": "small", "modality": "audio"},
                "three": {"path": "bert-tiny"}
            }"#,
        );
        let models = read_json(&file).unwrap();
        let places: Vec<Place> = models.iter().map(|model| model.place.clone()).collect();
        let name = |text: &str| Place::Name(text.into());
        assert_eq!(
            places,
            [Place::Path(folder.path().join("mine.onnx")), name("openai/whisper-tiny"), name("bert-tiny")]
        );
        assert_eq!((models[0].name.as_str(), models[0].line, models[2].line), ("one", 2, 4));
        assert_eq!((models[0].size.as_deref(), models[0].modality.as_deref()), (Some("small"), Some("image")));
    }

    #[test]
    fn an_unknown_key_is_told_with_its_line_and_the_nearest_one() {
        let (line, text) = refused("{\n \"a\": {\n  \"name\": \"x\",\n  \"famly\": \"vision\"\n }\n}");
        assert_eq!(line, 4);
        assert!(text.contains("'a': the key 'famly' is not known; did you mean family?"), "{text}");
    }

    #[test]
    fn a_wrong_type_is_told_with_what_was_found() {
        assert_eq!(refused("{\"a\": {\n\"path\": 7}}"), (2, "'a': 'path' has to be a text, found the number 7".into()));
        assert!(refused("{\"a\":\n \"mine.onnx\"}").1.contains("expected an object with name"));
        assert!(refused("[]").1.contains("expected an object of models"));
        assert!(refused("{\"a\": {\"path\": \" \"}}").1.contains("is empty"));
    }

    #[test]
    fn a_path_that_is_missing_or_leads_to_nothing_is_told() {
        let (line, text) = refused("{\n\"a\": {\"size\": \"base\"}}");
        assert_eq!(line, 2);
        assert!(text.contains("it lacks 'path'"), "{text}");
        let (_, text) = refused("{\"a\": {\"path\": \"gone.onnx\"}}");
        assert!(text.contains("leads to nothing: looked for") && text.contains("gone.onnx"), "{text}");
    }

    #[test]
    fn a_name_that_stands_twice_is_told_with_both_lines() {
        let (line, text) = refused("{\n\"a\": {\"path\": \"mine.onnx\"},\n\n\"a\": {\"path\": \"mine.onnx\"}\n}");
        assert_eq!((line, text.as_str()), (4, "the name 'a' stands on line 2 already"));
        assert!(refused("{\"a\": {\"path\": \"b\",\n\"path\": \"c\"}}").1.contains("'path' stands on line 1"));
    }

    #[test]
    fn a_family_that_is_none_is_told_with_the_nearest() {
        let (_, text) = refused("{\"a\": {\"path\": \"b\", \"family\": \"visoin\"}}");
        assert!(text.contains("did you mean vision?") && text.contains("embedding"), "{text}");
    }

    #[test]
    fn what_is_no_json_is_told_with_its_line() {
        let (line, text) = refused("{\n\"a\": {\"path\": \"b\",}\n}");
        assert_eq!(line, 2);
        assert!(text.contains("not valid JSON"), "{text}");
        assert!(refused("{}").1.contains("names no model"));
        let missing = read_json(Path::new("nowhere.json")).unwrap_err().to_string();
        assert!(missing.contains("nowhere.json") && missing.contains("cannot be read"), "{missing}");
    }

    #[test]
    fn lines_are_found_behind_texts_with_brackets_and_quotes_in_them() {
        let (line, _) = refused("{\"a\\\"}{\": {\"name\": \"[}\\\\\"},\n \"b\": {\n \"x\": [1, {\"y\": \"]\"}]}}");
        assert_eq!(line, 3);
    }

    #[test]
    fn a_list_of_ids_has_comments_and_blank_lines() {
        let (folder, file) = list("");
        std::fs::write(&file, "# mine\ngpt2\n\n  org/name@v1  # pinned\nmine.onnx\nc#-model\n").unwrap();
        let name = |text: &str| Place::Name(text.into());
        let expected =
            [name("gpt2"), name("org/name@v1"), Place::Path(folder.path().join("mine.onnx")), name("c#-model")];
        assert_eq!(read_lines(&file).unwrap(), expected);
    }

    #[test]
    fn a_line_with_two_ids_or_one_again_is_told_with_its_number() {
        let (_folder, file) = list("");
        for (text, line, said) in [
            ("a\nb c\n", 2, "one id on a line, found 'b c'"),
            ("a\n\n#\na\n", 4, "'a' stands on line 1"),
            ("a,b", 1, "one id on a line"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = read_lines(&file).unwrap_err();
            assert_eq!(error.line, Some(line));
            assert!(error.to_string().contains(said), "{error}");
        }
        std::fs::write(&file, "# nothing\n").unwrap();
        assert!(read_lines(&file).unwrap_err().to_string().contains("names no model"));
        std::fs::write(&file, [0xFF, 0xFE, 0]).unwrap();
        assert!(read_lines(&file).unwrap_err().to_string().contains("no text"));
    }
}
