//! What a request says: its question, as the server reads it.

use super::options::{Api, Question};
use super::prompts::Prompts;
use hyper::body::Bytes;
use serde_json::json;

pub struct Bodies {
    question: Question,
    prompts: Prompts,
}

impl Bodies {
    pub fn new(question: &Question) -> Bodies {
        Bodies { question: question.clone(), prompts: Prompts::new() }
    }

    /// The next, which asks for what no other did.
    pub fn draw(&mut self) -> Bytes {
        let Question { api, prompt, new_tokens, ignore_eos, .. } = self.question;
        let text = self.prompts.draw(prompt);
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
        Bytes::from(body.to_string())
    }
}
