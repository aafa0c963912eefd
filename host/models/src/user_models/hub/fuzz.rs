//! Answers of a hub.

use super::ModelId;
use super::repository::Repository;

#[test]
fn hub_answer() {
    skillbench_fuzz::fuzz("hub-answer", |bytes| {
        let id = ModelId { repository: "org/name".into(), revision: None, file: None };
        let Ok(answer) = serde_json::from_slice(bytes) else { return false };
        let Ok(repository) = Repository::of(answer, &id) else { return false };
        repository.graphs(&id).is_ok_and(|graphs| repository.beside(&graphs).len() < usize::MAX)
    });
}

#[test]
fn model_id() {
    skillbench_fuzz::fuzz("model-id", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Some(id) = ModelId::parse(&text) else { return false };
        assert_eq!(ModelId::parse(&id.to_string()), Some(id), "an id is read as it is written");
        true
    });
}
