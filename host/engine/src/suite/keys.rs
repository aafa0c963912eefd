//! The keys of a suite file, each read as what it has to be.

use super::{Schedule, SuiteFile};
use crate::schedule::Time;
use skillbench_record::catalog::Limit;
use skillbench_record::located::{Field, Located, Reader, Table, Value, within};
use skillbench_record::{ModelSet, OptionChoice, PRECISIONS, precision};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What families are written as.
const FAMILIES: &str = "model_families";

/// Texts that are not empty, each with its line.
fn texts(reader: &mut Reader<'_>, items: &[Located], path: &str) -> Vec<(String, usize)> {
    let mut texts = vec![];
    for (index, item) in items.iter().enumerate() {
        match item.value.text().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => texts.push((text.to_string(), item.line)),
            None => drop(reader.wrong::<()>(item, &within(path, &format!("[{index}]")), "a name")),
        }
    }
    texts
}

/// The keys of a suite, which may have the names of their flags.
pub(super) struct Keys<'r, 'p> {
    reader: &'r mut Reader<'p>,
    root: &'r Table,
}

impl<'r, 'p> Keys<'r, 'p> {
    pub fn new(reader: &'r mut Reader<'p>, root: &'r Table) -> Keys<'r, 'p> {
        for (other, key) in SuiteFile::OTHER_NAMES {
            let same = || SuiteFile::OTHER_NAMES.iter().filter(|(_, of)| *of == key).map(|(name, _)| *name);
            let taken = same().take_while(|name| *name != other).any(|name| root.get(name).is_some());
            if let Some(field) = root.field(other).filter(|_| taken || root.get(key).is_some()) {
                reader.problem(field.line, other, format!("it is another name for {key}, which stands there too"));
            }
        }
        Keys { reader, root }
    }

    fn get(&self, key: &str) -> Option<&'r Located> {
        let others = || SuiteFile::OTHER_NAMES.iter().filter(|(_, of)| *of == key);
        self.root.get(key).or_else(|| others().find_map(|(other, _)| self.root.get(other)))
    }

    fn items(&mut self, key: &str) -> &'r [Located] {
        let value = self.get(key);
        self.reader.list(value, key)
    }

    /// A list, of which each item is read by `read`; `expected` says what it has to be.
    fn list<T>(&mut self, key: &str, expected: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let mut found = vec![];
        for (index, item) in self.items(key).iter().enumerate() {
            match read(&item.value) {
                Some(value) => found.push(value),
                None => drop(self.reader.wrong::<()>(item, &within(key, &format!("[{index}]")), expected)),
            }
        }
        found
    }

    pub fn sizes(&mut self, key: &str, most: i64) -> Vec<i64> {
        let expected = format!("a whole number from 1 to {most}");
        self.list(key, &expected, |value| value.integer().filter(|size| (1..=most).contains(size)))
    }

    pub fn image_sizes(&mut self) -> Vec<[i64; 2]> {
        let pixels = |value: i64| Some(value).filter(|pixels| (1..=65_536).contains(pixels));
        let text = |text: &str| {
            let (height, width) = text.split_once(['x', 'X'])?;
            Some([pixels(height.parse().ok()?)?, pixels(width.parse().ok()?)?])
        };
        self.list("image_sizes", "a size such as 224, \"384x512\" or [384, 512]", |value| match value {
            Value::Text(size) => text(size),
            Value::List(sides) => match sides.as_slice() {
                [height, width] => Some([pixels(height.value.integer()?)?, pixels(width.value.integer()?)?]),
                _ => None,
            },
            other => other.integer().and_then(pixels).map(|side| [side, side]),
        })
    }

    pub fn audio_seconds(&mut self) -> Vec<f64> {
        self.list("audio_seconds", "a number of seconds", |value| {
            value.float().filter(|seconds| *seconds > 0.0 && *seconds <= 1e7)
        })
    }

    pub fn rates(&mut self) -> Vec<f64> {
        self.list("rates", "a number of requests a second", |value| {
            value.float().filter(|rate| *rate > 0.0 && *rate <= 1e6)
        })
    }

    pub fn batch_waits(&mut self) -> Vec<f64> {
        self.list("batch_wait_ms", "a number of milliseconds", |value| {
            value.float().filter(|wait| *wait >= 0.0 && *wait <= 1e4)
        })
    }

    pub fn text(&mut self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        self.reader.string(value, key)
    }

    pub fn count(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
        let value = self.get(key)?;
        let count = value.value.integer().and_then(|count| u64::try_from(count).ok());
        let expected = match most {
            u64::MAX => format!("a whole number, {least} or more"),
            most => format!("a whole number from {least} to {most}"),
        };
        count.filter(|count| (least..=most).contains(count)).or_else(|| self.reader.wrong(value, key, &expected))
    }

    pub fn seconds(&mut self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        // No limit is longer than a year, and one that is shorter than a millisecond stops everything.
        let seconds = value.value.float().filter(|seconds| (1e-3..=31_536_000.0).contains(seconds));
        seconds.or_else(|| self.reader.wrong(value, key, "a number of seconds"))
    }

    pub fn flag(&mut self, key: &str, usual: bool) -> bool {
        let Some(value) = self.get(key) else { return usual };
        value.value.flag().or_else(|| self.reader.wrong(value, key, "true or false")).unwrap_or(usual)
    }

    fn located(&mut self, key: &str) -> Vec<(String, usize)> {
        let items = self.items(key);
        texts(self.reader, items, key)
    }

    pub fn names(&mut self, key: &str) -> Vec<String> {
        self.located(key).into_iter().map(|(name, _)| name).collect()
    }

    pub fn paths(&mut self, key: &str) -> Vec<PathBuf> {
        self.names(key).into_iter().map(PathBuf::from).collect()
    }

    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        let value = self.get(key)?;
        self.reader.string(value, key).map(PathBuf::from)
    }

    pub fn precision(&mut self) -> Option<String> {
        const KEY: &str = "precision";
        let value = self.get(KEY)?;
        let known = value.value.text().and_then(precision).map(String::from);
        known.or_else(|| self.reader.wrong(value, KEY, &format!("one of {}", PRECISIONS.join(", "))))
    }

    pub fn models_set(&mut self) -> Option<ModelSet> {
        const KEY: &str = "models_set";
        let value = self.get(KEY)?;
        let set = value.value.text().and_then(ModelSet::parse);
        set.or_else(|| {
            self.reader.wrong(value, KEY, &format!("one of {}", ModelSet::ALL.map(ModelSet::name).join(", ")))
        })
    }

    pub fn options(&mut self) -> Vec<String> {
        self.checked("options", |text| OptionChoice::parse(text).map(drop))
    }

    pub fn limits(&mut self) -> Vec<String> {
        self.checked("limits", |text| text.parse::<Limit>().map(drop).map_err(|error| error.to_string()))
    }

    fn checked(&mut self, key: &str, check: impl Fn(&str) -> Result<(), String>) -> Vec<String> {
        let texts = self.located(key);
        for (index, (text, line)) in texts.iter().enumerate() {
            if let Err(error) = check(text) {
                self.reader.problem(*line, &within(key, &format!("[{index}]")), error);
            }
        }
        texts.into_iter().map(|(text, _)| text).collect()
    }

    pub fn dims(&mut self) -> BTreeMap<String, i64> {
        const KEY: &str = "dims";
        let Some(value) = self.get(KEY) else { return BTreeMap::new() };
        let Some(table) = self.reader.table(value, KEY) else { return BTreeMap::new() };
        let mut dims = BTreeMap::new();
        for Field { key, value, .. } in table.fields() {
            match value.value.integer().filter(|size| *size > 0) {
                Some(size) => drop(dims.insert(key.clone(), size)),
                None => drop(self.reader.wrong::<()>(value, &within(KEY, key), "a whole number, 1 or more")),
            }
        }
        dims
    }

    /// Families alone: those that are wanted. They may stand where a table of them with their models stands else.
    pub fn only_families(&mut self) -> Vec<String> {
        let mut families = self.names("families");
        if let Some(Located { value: Value::List(items), .. }) = self.get(FAMILIES) {
            families.extend(texts(self.reader, items, FAMILIES).into_iter().map(|(name, _)| name));
        }
        families
    }

    pub fn families(&mut self) -> BTreeMap<String, Vec<String>> {
        let mut families = BTreeMap::new();
        match self.get(FAMILIES).map(|value| (value, &value.value)) {
            None | Some((_, Value::List(_))) => {}
            Some((_, Value::Table(table))) => {
                for Field { key: family, value: models, .. } in table.fields() {
                    let path = within(FAMILIES, family);
                    match &models.value {
                        Value::List(items) => {
                            let models = texts(self.reader, items, &path).into_iter().map(|(name, _)| name);
                            families.insert(family.clone(), models.collect());
                        }
                        _ => drop(self.reader.wrong::<()>(models, &path, "a list of model ids or paths")),
                    }
                }
            }
            Some((value, _)) => {
                let expected = "a list of families, or a table of them with lists of models";
                let _: Option<()> = self.reader.wrong(value, FAMILIES, expected);
            }
        }
        families
    }

    pub fn schedule(&mut self) -> Option<Schedule> {
        const KEY: &str = "schedule";
        let field = self.root.field(KEY)?;
        let Value::Table(table) = &field.value.value else {
            return self.reader.wrong(&field.value, KEY, "a table with enabled, frequency and time");
        };
        let reader = &mut *self.reader;
        reader.known_keys(table, "schedule.", &Schedule::KEYS);
        let enabled = match table.get("enabled") {
            None => {
                reader.problem(field.line, KEY, "expected `enabled`, true or false");
                false
            }
            Some(value) => {
                let flag = value.value.flag();
                flag.or_else(|| reader.wrong(value, &within(KEY, "enabled"), "true or false")).unwrap_or(false)
            }
        };
        let mut text = |name: &str, expected: &str, fits: &dyn Fn(&str) -> bool| {
            let value = table.get(name)?;
            let text = value.value.text().filter(|text| fits(text)).map(String::from);
            text.or_else(|| reader.wrong(value, &within(KEY, name), expected))
        };
        let known = Schedule::FREQUENCIES;
        let frequency = text("frequency", &format!("one of {}", known.join(", ")), &|text| known.contains(&text));
        let time = text("time", "a time as \"HH:MM\"", &|text| Time::parse(text).is_some());
        Some(Schedule { enabled, frequency, time })
    }
}
