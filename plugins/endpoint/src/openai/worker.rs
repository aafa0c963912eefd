//! A worker: one connection, over which one request at a time is served.

use super::options::{Api, Question};
use super::prompts::Prompts;
use super::stream;
use crate::client::Client;
use crate::settings::Settings;
use serde::Deserialize;
use serde_json::json;
use skillbench_load::board::Shift;
use skillbench_load::session::Serve;
use skillbench_plugin_api::{Error, Result, Why};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

pub struct Worker {
    client: Client,
    url: String,
    question: Question,
    prompts: Prompts,
    answer: Vec<u8>,
    counts_otherwise: Arc<AtomicBool>,
}

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    embedding: Vec<f32>,
}

impl Worker {
    /// `counts_otherwise` is set where the server says that an answer had more or fewer tokens than pieces of text.
    pub fn new(settings: &Settings, question: &Question, counts_otherwise: &Arc<AtomicBool>) -> Worker {
        Worker {
            client: Client::new(settings),
            url: settings.url.clone(),
            question: question.clone(),
            prompts: Prompts::new(),
            answer: vec![],
            counts_otherwise: Arc::clone(counts_otherwise),
        }
    }

    /// The next question, as the server reads it.
    fn next(&mut self) -> Vec<u8> {
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
        body.to_string().into_bytes()
    }

    /// Asks, and waits for all of the answer: when each token was there; none of embeddings.
    fn ask(&mut self, body: &[u8], now: impl Fn() -> u64) -> Result<Vec<u64>> {
        let answer = self.client.post(&settled(&self.url, self.question.api.path()), None, body)?;
        if self.question.api == Api::Embeddings {
            self.client.read(answer, &mut self.answer)?;
            embedded(&self.answer, &self.url)?;
            return Ok(vec![]);
        }
        let told = stream::read(self.client.lines(answer), &self.url, now)?;
        if told.tokens.is_some_and(|tokens| tokens != told.pieces.len() as u64) {
            self.counts_otherwise.store(true, Relaxed);
        }
        Ok(told.pieces)
    }
}

impl Serve for Worker {
    fn serve(&mut self) -> Result<()> {
        let (body, start) = (self.next(), Instant::now());
        self.ask(&body, || start.elapsed().as_nanos() as u64).map(drop)
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        while let Some(batch) = shift.next() {
            let (number, body) = (batch.start, self.next());
            let taken = shift.begin(batch);
            let tokens = match self.ask(&body, || shift.now()) {
                Ok(tokens) => Some(tokens),
                Err(error) if shift.takes(&error) => None,
                Err(error) => return Err(error),
            };
            let end = shift.now();
            let all = tokens.as_deref().unwrap_or_default();
            if let Some(first) = all.first() {
                let gaps: Vec<u64> = all.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
                shift.made(number, *first, &gaps);
            }
            shift.ran(1);
            shift.worked(taken, end, 1.0);
            // What came after the last token is none of the answer's time.
            shift.end(number, all.last().copied().unwrap_or(end), tokens.is_none());
        }
        Ok(())
    }
}

/// The path of a request. Who names an address with its `/v1` means the same.
fn settled(url: &str, path: &str) -> String {
    let path = if url.ends_with("/v1") { path.trim_start_matches("/v1") } else { path };
    path.to_string()
}

/// An answer has to have what was asked for: numbers.
fn embedded(answer: &[u8], url: &str) -> Result<()> {
    let wrong =
        |what: String| Error::invalid(format!("{url} answers with no embedding ({what})")).because(Why::RUNTIME);
    let answer: Embeddings = serde_json::from_slice(answer).map_err(|error| wrong(error.to_string()))?;
    match &answer.data[..] {
        [one] if !one.embedding.is_empty() && one.embedding.iter().all(|value| value.is_finite()) => Ok(()),
        [_] => Err(wrong("no finite numbers".into())),
        several => Err(wrong(format!("{} of one", several.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_plugin_api::Options;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    /// Whether a whole question came: its body is an object, which may come after its head.
    fn question(stream: &mut TcpStream) -> bool {
        let (mut asked, mut some) = (vec![], [0; 4096]);
        while !asked.ends_with(b"}") {
            match stream.read(&mut some) {
                Ok(read) if read > 0 => asked.extend(&some[..read]),
                _ => return false,
            }
        }
        true
    }

    /// Answers each request of each connection with the same stream, and tells how many connections there were.
    fn streaming() -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (url, connections) = (format!("http://{}", listener.local_addr().unwrap()), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                stream.set_nodelay(true).unwrap();
                counted.fetch_add(1, Relaxed);
                std::thread::spawn(move || {
                    while question(&mut stream) {
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                        for event in [
                            "data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
                            "data: {\"choices\":[{\"text\":\"b\"}]}\n\n",
                            "data: [DONE]\n\n",
                        ] {
                            std::thread::sleep(Duration::from_millis(20));
                            let _ = stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
                        }
                        let _ = stream.write_all(b"0\r\n\r\n");
                    }
                });
            }
        });
        (url, connections)
    }

    #[test]
    fn tokens_are_timed_as_they_come_and_all_requests_go_over_one_connection() {
        let (url, connections) = streaming();
        let options = [("url", url.as_str()), ("model", "m"), ("rate", "1")];
        let options = Options(options.map(|(key, value)| (key.into(), value.into())).into());
        let (settings, question) = (Settings::of(&options).unwrap(), Question::of(&options).unwrap());
        let mut worker = Worker::new(&settings, &question, &Arc::default());
        for _ in 0..3 {
            let (body, start) = (worker.next(), Instant::now());
            let tokens = worker.ask(&body, || start.elapsed().as_millis() as u64).unwrap();
            let [first, last] = tokens[..] else { panic!("{tokens:?}") };
            assert!(first >= 20 && last >= first + 15 && last < 5_000, "{tokens:?}");
        }
        assert_eq!(connections.load(Relaxed), 1);
    }

    #[test]
    fn an_address_with_and_without_its_version_means_the_same() {
        assert_eq!(settled("http://a:1", "/v1/models"), "/v1/models");
        assert_eq!(settled("http://a:1/v1", "/v1/models"), "/models");
    }

    #[test]
    fn an_embedding_is_a_list_of_numbers() {
        let told = |text: &str| embedded(text.as_bytes(), "http://a:1").map_err(|error| error.message);
        assert_eq!(told(r#"{"data": [{"embedding": [0.5, -1]}]}"#), Ok(()));
        for text in
            ["", "{}", r#"{"data": []}"#, r#"{"data": [{"embedding": []}]}"#, r#"{"data": [{"embedding": [1e999]}]}"#]
        {
            assert!(told(text).unwrap_err().contains("no embedding"), "{text}");
        }
    }
}
