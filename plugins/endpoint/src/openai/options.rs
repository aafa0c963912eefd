//! What is asked of a server that speaks OpenAI's HTTP.

use skillbench_load::options::{Of, text};
use skillbench_load::sizes::Parts;
use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::CStr;

/// The seed of arrivals where none is given, as of a run of models.
const SEED: u64 = 42;
const PROMPT: usize = 32;
const NEW_TOKENS: usize = 32;
/// As Mooncake's traces have it.
pub const TRACE_PART: usize = 512;
/// So many words of a prompt are its own at least: fewer may have been asked before, and then no model computes.
const OWN_WORDS: usize = 4;
/// All of them are one thread's.
pub const MOST_WORKERS: usize = 8192;

pub const SCHEMA: &CStr = text(skillbench_load::schema!(
    r#",
        "url": {
            "type": "string",
            "description": "Where the server is: http://HOST:PORT or https; its paths begin with /v1"
        },
        "model": {
            "type": "string",
            "description": "What the server calls the model: /v1/models lists them"
        },
        "timeout_s": {
            "type": "number",
            "exclusiveMinimum": 0,
            "default": 60,
            "description": "Seconds that one request may take, to its last token"
        },
        "api": {
            "type": "string",
            "default": "completions",
            "enum": ["completions", "chat", "embeddings"],
            "description": "What is asked for: /v1/completions, /v1/chat/completions, or /v1/embeddings, which makes no tokens"
        },
        "prompt": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000,
            "default": 32,
            "description": "Words of a prompt; how many tokens they are is the server's to say. Each request has others"
        },
        "prefix": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "default": 0,
            "description": "So many words at the beginning of a prompt, of those of prompt, are the same in all of a session, as instructions are that come before each question"
        },
        "trace_part": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000,
            "default": 512,
            "description": "Tokens of each part of a prompt that a trace names in its hash_ids: prompts of a session share the parts that have one name"
        },
        "new_tokens": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100000,
            "default": 32,
            "description": "The most tokens that a request makes"
        },
        "ignore_eos": {
            "type": "string",
            "default": "on",
            "enum": ["on", "off"],
            "description": "on asks the server to go on after an end of text, so that answers are of one length: llama.cpp and vLLM know that word, others may refuse it"
        },
        "seed": {
            "type": "integer",
            "minimum": 0,
            "default": 42,
            "description": "Of arrivals. Prompts are others in each run"
        }"#,
    r#""url", "model""#,
    8192
));

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Completions,
    Chat,
    Embeddings,
}

impl Api {
    pub fn path(self) -> &'static str {
        match self {
            Api::Completions => "/v1/completions",
            Api::Chat => "/v1/chat/completions",
            Api::Embeddings => "/v1/embeddings",
        }
    }

    /// What its requests make.
    pub fn makes(self) -> Of {
        if self == Api::Embeddings { Of::Items } else { Of::Tokens }
    }
}

#[derive(Clone, Debug)]
pub struct Question {
    pub api: Api,
    pub model: String,
    /// Words.
    pub prompt: usize,
    /// Words that all prompts of a session begin with.
    pub prefix: usize,
    /// Words of a part that a trace names, where that was said.
    pub trace_part: Option<usize>,
    pub new_tokens: usize,
    pub ignore_eos: bool,
    pub seed: u64,
}

impl Question {
    /// # Errors
    /// `InvalidArgument` for a value that is none.
    pub fn of(options: &Options) -> Result<Question> {
        let api = match options.get("api") {
            None | Some("completions") => Api::Completions,
            Some("chat") => Api::Chat,
            Some("embeddings") => Api::Embeddings,
            Some(other) => {
                return Err(Error::invalid(format!("option api: '{other}' is none of completions, chat, embeddings")));
            }
        };
        let count = |key: &str, default: usize| match options.parse::<usize>(key)? {
            Some(0) => Err(Error::invalid(format!("option {key}: 0 is nothing to ask for"))),
            given => Ok(given.unwrap_or(default)),
        };
        let refuse = |key: &str, why: &str| match options.get(key) {
            None => Ok(()),
            Some(_) => Err(Error::invalid(format!("option {key}: {why}"))),
        };
        refuse("batch_wait_us", "how requests are put together is the server's")?;
        if api == Api::Embeddings {
            refuse("new_tokens", "an embedding has no tokens")?;
            refuse("ignore_eos", "an embedding has no tokens")?;
        }
        let has_load = ["rate", "rate_per_hour", "users", "slo", "trace"].iter().any(|key| options.get(key).is_some());
        if !has_load && options.get("scenario") != Some("offline") {
            let text = "no load is named: give `--option openai:rate=`, `--option openai:users=`, `--option openai:slo=`, `--option openai:trace=`, or `--option openai:scenario=offline` with workers, which has as many requests under way as there are workers";
            return Err(Error::invalid(text));
        }
        let (prompt, prefix) = (count("prompt", PROMPT)?, options.parse("prefix")?.unwrap_or(0));
        if prefix > 0 && prefix + OWN_WORDS > prompt {
            let text = format!(
                "option prefix: {prefix} of the {prompt} words of a prompt; at least {OWN_WORDS} have to be its own, or a cache has the answer"
            );
            return Err(Error::invalid(text));
        }
        match options.get("trace") {
            Some(_) => refuse("prefix", "a trace says for itself what its prompts share")?,
            None => refuse("trace_part", "only a trace has parts: name one, with the option trace")?,
        }
        let model =
            options.get("model").ok_or_else(|| Error::invalid("option model: what does the server call it?"))?;
        Ok(Question {
            api,
            model: model.into(),
            prompt,
            prefix,
            trace_part: options.get("trace_part").map(|_| count("trace_part", TRACE_PART)).transpose()?,
            new_tokens: count("new_tokens", NEW_TOKENS)?,
            ignore_eos: options.get("ignore_eos") != Some("off"),
            seed: options.parse("seed")?.unwrap_or(SEED),
        })
    }

    /// What all prompts share that are of no trace.
    pub fn shared(&self) -> Parts<'static> {
        if self.prefix == 0 { Parts::NONE } else { Parts { names: &[0], tokens: self.prefix } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Question> {
        let usual = [("model", "m"), ("rate", "1")].iter().chain(pairs);
        Question::of(&Options(usual.map(|(key, value)| ((*key).into(), (*value).into())).collect()))
    }

    #[test]
    fn text_of_32_words_and_tokens_is_asked_for_where_nothing_else_is_said() {
        let question = of(&[]).unwrap();
        assert_eq!((question.api, question.prompt, question.new_tokens), (Api::Completions, 32, 32));
        assert!(question.ignore_eos && question.seed == 42);
        let chat = of(&[("api", "chat"), ("prompt", "5"), ("new_tokens", "7"), ("ignore_eos", "off")]).unwrap();
        assert_eq!((chat.api.path(), chat.prompt, chat.new_tokens), ("/v1/chat/completions", 5, 7));
        assert!(!chat.ignore_eos && of(&[("api", "embeddings")]).unwrap().api.makes() == Of::Items);
    }

    #[test]
    fn what_asks_for_nothing_is_refused() {
        let wrong = [
            ("api", "images"),
            ("prompt", "0"),
            ("new_tokens", "0"),
            ("prompt", "-1"),
            ("seed", "x"),
            ("batch_wait_us", "5"),
            ("prefix", "29"),
            ("trace_part", "16"),
        ];
        for pair in wrong {
            assert!(of(&[pair]).is_err(), "{pair:?}");
        }
        assert!(of(&[("api", "embeddings"), ("new_tokens", "5")]).is_err());
        assert!(of(&[("trace", "one.jsonl"), ("prefix", "5")]).is_err());
        assert_eq!(of(&[("trace", "one.jsonl"), ("trace_part", "16")]).unwrap().trace_part, Some(16));
        let without_load = Options([("model".to_string(), "m".to_string())].into());
        assert!(Question::of(&without_load).unwrap_err().message.contains("openai:rate="));
    }

    #[test]
    fn the_schema_is_json_that_wants_an_address() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA.to_str().unwrap()).unwrap();
        assert_eq!(schema["required"], serde_json::json!(["url", "model"]));
        assert!(["rate", "slo", "workers", "over_time"].iter().all(|key| schema["properties"][key].is_object()));
        for (key, default) in
            [("prompt", PROMPT), ("new_tokens", NEW_TOKENS), ("trace_part", TRACE_PART), ("seed", SEED as usize)]
        {
            assert_eq!(schema["properties"][key]["default"], default, "{key}");
        }
        assert_eq!(schema["properties"]["workers"]["maximum"], MOST_WORKERS);
    }
}
