//! A skill becomes files in the cache: built by a worker into a folder of its own, moved into place when whole.

use super::cache::{Held, ModelCache};
use super::catalog::{Skill, SkillSource};
use skillbench_models::user_models::local::UserModel;
use skillbench_models::{Manifest, stored};
use skillbench_record::defaults::defaults;
use skillbench_record::hash::sha256_text;
use skillbench_worker::{Command, Failure, Limits, ModelPaths, Reply, Worker};
use std::path::{Path, PathBuf};

/// A model that is ready to load.
#[derive(Clone, Debug)]
pub struct BuiltModel {
    pub paths: ModelPaths,
    pub manifest: Manifest,
    /// Changes whenever the files do; reference outputs are kept by it.
    pub content: String,
    /// What most of its weights are stored as; `None`: the files do not tell.
    pub stored: Option<&'static str>,
    /// Nobody takes it out of the cache meanwhile; `None`: it is not in there.
    pub held: Option<Held>,
}

/// The model's files: from the cache, or built now, with weights in a form that its description offers; `None`: float32, or as the
/// files of a user are.
///
/// # Errors
/// What became of the building, with the folder.
pub fn build(skill: &Skill, form: Option<&str>, limits: &Limits) -> Result<BuiltModel, Failure> {
    let cache = || ModelCache::open().with_patience(limits.total, &limits.stop);
    match &skill.source {
        SkillSource::UserModel(user_model) => of_user_model(user_model, &cache()),
        SkillSource::Bad { why, .. } => Err(Failure::failed("bad-model", why)),
        SkillSource::Skillset { library, plugin } => {
            let version = &sha256_text(&skill.content_of(form))[..16];
            let suffix = form.map_or(String::new(), |form| format!("-{form}"));
            let name = format!("{plugin}-{}-{version}{suffix}", skill.id());
            let fill = |folder: &Path| {
                let (skill, precision) = (skill.id().into(), form.map(String::from));
                let command = Command::Build { library: library.clone(), skill, precision, directory: folder.into() };
                match Worker::call_once(&command, limits)? {
                    Reply::Built => Ok(()),
                    other => Err(Failure::unexpected(&other)),
                }
            };
            let (folder, held) = cache().get(&name, skill.bytes_estimate(form), fill)?;
            Ok(BuiltModel { held: Some(held), ..of_folder(skill, form, &folder)? })
        }
    }
}

impl Skill {
    /// About how large the model's files are in a form; 0 where nobody counted.
    pub fn bytes_estimate(&self, form: Option<&str>) -> u64 {
        self.description.file_bytes(form.unwrap_or("float32")).unwrap_or_default()
    }

    /// Changes whenever building this form would write something else.
    fn content_of(&self, form: Option<&str>) -> String {
        let of_form = form.and_then(|form| self.description.form_contents.get(form));
        of_form.map_or(self.description.content.clone(), |of_form| format!("{}|{of_form}", self.description.content))
    }

    /// The form in which the weights are to be written for a precision; `None`: float32, or as a user's files are.
    pub fn form_for(&self, precision: Option<&str>) -> Option<&str> {
        let offered = |form: &str| self.description.precisions.iter().find(|known| *known == form).map(String::as_str);
        let large = self.description.parameters.is_some_and(|count| count >= defaults().models.float32_below);
        precision.and_then(offered).or_else(|| large.then(|| offered(LARGE)).flatten())
    }

    /// The form to fall back on where a backend does not compute in a precision.
    pub fn stored_form(&self, precision: &str) -> Option<&str> {
        let wanted = stored::form_for(precision);
        self.description.precisions.iter().find(|known| **known == wanted).map(String::as_str)
    }
}

/// The form of models of which float32 is not written.
const LARGE: &str = "float16-stored";

fn of_folder(skill: &Skill, form: Option<&str>, folder: &Path) -> Result<BuiltModel, Failure> {
    let bad = |text: String| Failure::failed("manifest", format!("{}: {text}", folder.display()));
    let text = std::fs::read_to_string(folder.join("skill.json")).map_err(|error| bad(error.to_string()))?;
    let manifest = Manifest::parse(&text).map_err(bad)?;
    let parts: Vec<(String, PathBuf)> =
        manifest.parts.iter().map(|p| (p.name.clone(), folder.join(&p.graph))).collect();
    if parts.is_empty() {
        return Err(bad("skill.json names no part".into()));
    }
    let content = match form {
        Some(form) => format!("{}|{}|{form}", skill.id(), skill.content_of(Some(form))),
        None => format!("{}|{}", skill.id(), skill.description.content),
    };
    Ok(BuiltModel {
        stored: stored_as(&parts),
        paths: ModelPaths { skill: skill.id().into(), manifest: text, parts },
        manifest,
        content,
        held: None,
    })
}

/// A user's own model lies where it lies. One with links, as hubs lay models, lies in the cache too, without them: engines follow no
/// link, or follow that of a graph and look for its weights where it leads.
fn of_user_model(user_model: &UserModel, cache: &ModelCache) -> Result<BuiltModel, Failure> {
    let bad = |text: String| Failure::failed("manifest", format!("{}: {text}", user_model.path.display()));
    let manifest = Manifest::parse(&user_model.manifest).map_err(bad)?;
    let (parts, held) = match user_model.linked {
        false => (user_model.parts.clone(), None),
        true => {
            let name = format!("own-{}", &sha256_text(&user_model.content)[..32]);
            // Apart from what marks the folder as whole, whose name is one that a file of the model may have.
            let fill = |folder: &Path| {
                let gathered = user_model.gather(&folder.join(GATHERED));
                gathered.map_err(|error| Failure::failed("bad-model", error.to_string()))?;
                Ok::<_, Failure>(std::fs::write(folder.join("skill.json"), &user_model.manifest)?)
            };
            let (folder, held) = cache.get(&name, cache.room_for(&user_model.path, user_model.bytes), fill)?;
            (user_model.parts_in(&folder.join(GATHERED)), Some(held))
        }
    };
    let (skill, text) = (user_model.id.clone(), user_model.manifest.clone());
    let stored = stored_as(&parts);
    let paths = ModelPaths { skill, manifest: text, parts };
    Ok(BuiltModel { stored, paths, manifest, content: user_model.content.clone(), held })
}

fn stored_as(parts: &[(String, PathBuf)]) -> Option<&'static str> {
    stored::weights(parts.iter().map(|(_, graph)| graph.as_path()))
}

/// Where the files of a user's model are in its folder of the cache.
const GATHERED: &str = "model";

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use skillbench_models::user_models::local;
    use std::os::unix::fs::symlink;

    /// The probe as hubs lay models: a content without a name, and a link to it.
    fn hub_layout(cache: &Path) -> PathBuf {
        let repository = cache.join("models--org--name");
        let snapshot = repository.join("snapshots/0000000000000000000000000000000000000000");
        std::fs::create_dir_all(&snapshot).unwrap();
        std::fs::create_dir(repository.join("blobs")).unwrap();
        let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worker/data/probe.onnx");
        std::fs::copy(probe, repository.join("blobs/a1")).unwrap();
        symlink("../../blobs/a1", snapshot.join("model.onnx")).unwrap();
        snapshot
    }

    #[test]
    fn an_engine_is_given_a_model_with_links_as_files_of_the_cache_and_other_models_where_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ModelCache::at(folder.path().join("cache"), 1 << 30);
        let snapshot = hub_layout(folder.path());
        let linked = local::open(&snapshot).unwrap();
        for _ in 0..2 {
            let built = of_user_model(&linked, &cache).unwrap();
            let graph = &built.paths.parts[0].1;
            assert!(graph.starts_with(cache.root()) && built.held.is_some());
            assert!(std::fs::symlink_metadata(graph).unwrap().is_file());
            assert_eq!(std::fs::read(graph).unwrap(), std::fs::read(snapshot.join("model.onnx")).unwrap());
        }
        assert_eq!(cache.models().unwrap().len(), 1, "the second finds what the first made");
        let plain = folder.path().join("plain.onnx");
        std::fs::copy(snapshot.join("model.onnx"), &plain).unwrap();
        let built = of_user_model(&local::open(&plain).unwrap(), &cache).unwrap();
        assert_eq!(built.paths.parts[0].1, plain);
    }

    #[test]
    fn a_link_that_is_turned_elsewhere_leaves_nothing_in_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ModelCache::at(folder.path().join("cache"), 1 << 30);
        let snapshot = hub_layout(folder.path());
        let linked = local::open(&snapshot).unwrap();
        let secret = folder.path().join("shadow");
        std::fs::write(&secret, "root").unwrap();
        std::fs::remove_file(snapshot.join("model.onnx")).unwrap();
        symlink(&secret, snapshot.join("model.onnx")).unwrap();
        let failure = of_user_model(&linked, &cache).unwrap_err();
        assert_eq!(failure.reason.code, "bad-model");
        assert!(failure.reason.message.contains("/shadow, which is outside"), "{failure}");
        assert!(cache.models().unwrap().is_empty());
    }
}
