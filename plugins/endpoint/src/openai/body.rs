//! What a request says: its question, as the server reads it.

use super::options::{Api, Question};
use super::prompts::Prompts;
use hyper::body::Bytes;
use serde_json::json;
use skillbench_load::sizes::{Lengths, Parts};

/// A request's body, and how many tokens it asks for; 0: for an embedding.
pub struct Drawn {
    pub body: Bytes,
    pub tokens: usize,
}

pub struct Bodies {
    question: Question,
    prompts: Prompts,
}

impl Bodies {
    pub fn new(question: &Question) -> Bodies {
        Bodies { question: question.clone(), prompts: Prompts::new() }
    }

    /// The next of a session. `lengths` and `parts`: of a request of a trace.
    pub fn draw(&mut self, session: u64, lengths: Option<Lengths>, parts: Parts<'_>) -> Drawn {
        let Question { api, ignore_eos, .. } = self.question;
        let usual = Lengths { prompt: self.question.prompt, tokens: self.question.new_tokens };
        let Lengths { prompt, tokens: new_tokens } = lengths.unwrap_or(usual);
        // A trace says for itself what its prompts share.
        let parts = if lengths.is_none() { self.question.shared() } else { parts };
        let text = self.prompts.draw(session, prompt, parts);
        let mut body = json!({ "model": self.question.model });
        match api {
            Api::Embeddings => body["input"] = json!(text),
            Api::Completions => body["prompt"] = json!(text),
            Api::Chat => body["messages"] = json!([{ "role": "user", "content": text }]),
        }
        if api != Api::Embeddings {
            body["max_tokens"] = json!(new_tokens);
            body["temperature"] = json!(0);
            body["stream"] = json!(true);
            body["stream_options"] = json!({ "include_usage": true });
            if ignore_eos {
                body["ignore_eos"] = json!(true);
            }
        }
        Drawn { body: Bytes::from(body.to_string()), tokens: if api == Api::Embeddings { 0 } else { new_tokens } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_plugin_api::Options;

    #[test]
    fn a_request_is_as_long_as_its_trace_says_or_else_as_the_options_say() {
        let options = [("model", "m"), ("rate", "1"), ("prompt", "5"), ("new_tokens", "9")];
        let options = Options(options.map(|(key, value)| (key.into(), value.into())).into());
        let mut bodies = Bodies::new(&Question::of(&options).unwrap());
        for (lengths, wanted) in [(None, (5, 9)), (Some(Lengths { prompt: 3, tokens: 7 }), (3, 7))] {
            let drawn = bodies.draw(1, lengths, Parts::NONE);
            let body: serde_json::Value = serde_json::from_slice(&drawn.body).unwrap();
            let words = body["prompt"].as_str().unwrap().split(' ').count();
            assert_eq!((words, body["max_tokens"].as_u64().unwrap()), wanted);
            assert_eq!(drawn.tokens as u64, wanted.1);
        }
    }

    #[test]
    fn prompts_of_a_session_begin_with_as_many_words_in_common_as_asked() {
        let options = [("model", "m"), ("rate", "1"), ("prompt", "40"), ("prefix", "30")];
        let options = Options(options.map(|(key, value)| (key.into(), value.into())).into());
        let mut bodies = Bodies::new(&Question::of(&options).unwrap());
        let mut common = |session: u64, other: u64| {
            let [one, other] = [session, other].map(|session| {
                let body: serde_json::Value =
                    serde_json::from_slice(&bodies.draw(session, None, Parts::NONE).body).unwrap();
                body["prompt"].as_str().unwrap().split(' ').map(String::from).collect::<Vec<_>>()
            });
            one.iter().zip(&other).take_while(|(one, other)| one == other).count()
        };
        assert!((30..40).contains(&common(1, 1)));
        assert!(common(1, 2) < 10);
    }
}
