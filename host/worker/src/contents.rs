//! Options that lead to a file whose content is part of what is measured, as a trace of requests is (`"format": "content"` in the schema of the options).
//!
//! The content is copied into the cache under its hash, and the plugin gets the copy: what it reads is what the key of the result says, whatever
//! becomes of the file meanwhile.

use crate::options::contents_of;
use skillbench_record::PluginOptions;
use skillbench_record::hash::sha256_bytes;
use skillbench_record::scratch::write_whole;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes of one file.
const LONGEST: u64 = 1 << 30;
/// Characters of a hash that stand in results.
const SHOWN: usize = 32;
const PREFIX: &str = "sha256-";

/// Puts copies in the place of files; `folder` is where they are kept.
///
/// # Errors
/// One sentence that names the option and what is wrong with its file.
pub fn keep(options: &mut PluginOptions, schema: &str, owner: &str, folder: &Path) -> Result<(), String> {
    for key in contents_of(schema) {
        let Some(value) = options.get_mut(&key) else { continue };
        let file = Path::new(value.as_str());
        let wrong = |what: String| format!("option '{key}' of {owner}: {} {what}", file.display());
        if !file.is_file() {
            return Err(wrong("cannot be read: there is no such file".into()));
        }
        let mut content = vec![];
        let opened = std::fs::File::open(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        opened
            .take(LONGEST + 1)
            .read_to_end(&mut content)
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if content.len() as u64 > LONGEST {
            return Err(wrong(format!("has more than {} MiB: give a part of it", LONGEST >> 20)));
        }
        // The ending says what it holds; all of the hash, for whoever is measured may have made the file.
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let kept = folder.join(format!("{PREFIX}{}.{ending}", sha256_bytes(&content)));
        if std::fs::read(&kept).ok().as_ref() != Some(&content) {
            write_whole(&kept, |kept| kept.write_all(&content))
                .map_err(|error: io::Error| wrong(format!("cannot be kept in {}: {error}", folder.display())))?;
        }
        *value = kept
            .to_str()
            .ok_or_else(|| wrong("cannot be kept: the cache is in a folder that is no Unicode".into()))?
            .into();
    }
    Ok(())
}

/// What a kept file is called in the key of a result; `None`: it is none.
pub fn name_of(kept: &str) -> Option<String> {
    let name = Path::new(kept).file_stem()?.to_str()?;
    name.starts_with(PREFIX).then(|| name.chars().take(PREFIX.len() + SHOWN).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::of_key;

    const SCHEMA: &str =
        r#"{"properties": {"trace": {"type": "string", "format": "content"}, "level": {"type": "integer"}}}"#;

    fn kept(file: &Path, folder: &Path) -> PluginOptions {
        let mut options = PluginOptions::from([("trace".into(), file.display().to_string())]);
        keep(&mut options, SCHEMA, "'serving'", folder).unwrap();
        options
    }

    #[test]
    fn files_of_one_content_are_one_measurement_and_of_another_another() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let key = |path: &Path| of_key(&kept(path, &folder.path().join("kept")), SCHEMA);
        let one = key(&file("one.csv", "time_s\n1\n"));
        assert_eq!(one, key(&file("other.csv", "time_s\n1\n")));
        assert_ne!(one, key(&file("one.csv", "time_s\n2\n")));
        assert!(one["trace"].starts_with(PREFIX) && one["trace"].len() == PREFIX.len() + SHOWN, "{one:?}");
        let not_kept = PluginOptions::from([("trace".into(), "/elsewhere/one.csv".into())]);
        assert!(of_key(&not_kept, SCHEMA).is_empty(), "a name says nothing of what it holds");
    }

    #[test]
    fn what_the_plugin_reads_is_what_was_there_when_the_run_was_planned() {
        let folder = tempfile::tempdir().unwrap();
        let (file, cache) = (folder.path().join("one.csv"), folder.path().join("kept"));
        std::fs::write(&file, "time_s\n1\n").unwrap();
        let options = kept(&file, &cache);
        std::fs::write(&file, "time_s\n2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&options["trace"]).unwrap(), "time_s\n1\n");
        assert!(options["trace"].ends_with(".csv"));
        // A copy that was changed is none.
        std::fs::write(&file, "time_s\n1\n").unwrap();
        std::fs::write(&options["trace"], "time_s\n9\n").unwrap();
        assert_eq!(std::fs::read_to_string(&kept(&file, &cache)["trace"]).unwrap(), "time_s\n1\n");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_with_its_option() {
        let mut options = PluginOptions::from([("trace".into(), "nowhere.csv".into())]);
        let told = keep(&mut options, SCHEMA, "'serving'", Path::new("kept")).unwrap_err();
        assert!(told.starts_with("option 'trace' of 'serving': nowhere.csv cannot be read"), "{told}");
        assert_eq!(keep(&mut PluginOptions::new(), SCHEMA, "'serving'", Path::new("kept")), Ok(()));
    }
}
