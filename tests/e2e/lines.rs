//! Every line that people typed elsewhere, here: docs/coming-from.toml has them, with what is the same here and what has to come of it.
//! The page docs/coming-from.md has its table from the same file.

use crate::docs::page;
use serde::Deserialize;
use serde_json::Value;
use skillbench_tests::{Ran, World, workspace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const PAGE: &str = "docs/coming-from.md";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    program: Vec<Program>,
    line: Vec<Line>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    typed: String,
    here: String,
    /// By a flag that the line has.
    #[serde(default)]
    when: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    typed: String,
    remark: Option<String>,
    #[serde(default)]
    exit: i32,
    #[serde(default)]
    stands_on: Vec<String>,
    #[serde(default)]
    exchanged: BTreeMap<String, String>,
    #[serde(default)]
    more: String,
    effects: Vec<Effect>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Effect {
    Run {
        run: String,
        models: Vec<String>,
        plugins: Vec<String>,
        precision: Option<String>,
    },
    File {
        file: String,
        #[serde(default)]
        has: Vec<String>,
        #[serde(default)]
        lacks: Vec<String>,
    },
    Rows {
        rows: String,
        db: String,
    },
    Says {
        says: String,
    },
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(&page("docs/coming-from.toml")).expect("docs/coming-from.toml is such a table"));

impl Line {
    /// What is typed here.
    fn here(&self) -> String {
        let words: Vec<&str> = self.typed.split_whitespace().collect();
        let name = Path::new(words[1]).file_name().unwrap().to_str().unwrap();
        let program = TABLE.program.iter().find(|program| program.typed == name);
        let program = program.unwrap_or_else(|| panic!("no program {name}"));
        let of_flag = words.iter().find_map(|word| program.when.get(*word));
        ["host", of_flag.unwrap_or(&program.here)]
            .into_iter()
            .chain(words[2..].iter().copied())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The same for models that are small and hardware that is here.
    fn small(&self) -> String {
        let exchange = |word: &str| self.exchanged.get(word).cloned().unwrap_or_else(|| word.into());
        let here: Vec<String> = self.here().split(' ').map(exchange).collect();
        format!("{} {}", here.join(" "), self.more)
    }
}

/// The table of the page.
fn shown() -> String {
    let mut text = "| you typed | here | what is not the same |\n|---|---|---|\n".to_string();
    for line in &TABLE.line {
        text += &format!("| `{}` | `{}` | {} |\n", line.typed, line.here(), line.remark.as_deref().unwrap_or_default());
    }
    text
}

const BEGIN: &str = "<!-- from coming-from.toml -->\n\n";
const END: &str = "\n<!-- to here -->";

/// With BLESS=1 in the environment the page is written anew.
#[test]
fn the_page_has_every_line_of_the_table() {
    let text = page(PAGE);
    let (before, rest) = text.split_once(BEGIN).expect("the page has a place for the table");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    let made = format!("{before}{BEGIN}{}{END}{after}", shown());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(workspace().join(PAGE), &made).unwrap();
    }
    assert!(
        page(PAGE) == made,
        "{PAGE} is out of date: BLESS=1 cargo test --release --workspace --test e2e -- the_page_has_every_line"
    );
}

/// Results that lines stand on: runs of bert-tiny on two backends, in folders and in a database; and a newer one of another model.
struct Stored {
    world: World,
    run: PathBuf,
    again: PathBuf,
    other: PathBuf,
}

static STORED: LazyLock<Stored> = LazyLock::new(|| {
    let world = World::default();
    let of = |more: &[&str]| {
        let quick = ["--bench", "inference", "--iterations", "1", "--warmup", "0"];
        let (ran, document) = world.run(&[&quick[..], more].concat());
        ran.exits_with(0);
        document["run_id"].as_str().unwrap().to_string()
    };
    let measured = |folder: &str, more: &[&str]| {
        let run = of(&[&["--output-dir", folder], more].concat());
        world.path().join(folder).join(run)
    };
    let model = ["--model", "bert-tiny", "--sequence-lengths", "8", "--plugin", "rten,cpu", "--batch-sizes"];
    let run = measured("stored", &[&model[..], &["1,8,16"]].concat());
    let again = measured("again", &[&model[..], &["1"]].concat());
    let other = measured("other", &["--model", "probe-mlp", "--plugin", "rten"]);
    Stored { world, run, again, other }
});

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A fresh folder with what a line stands on.
fn folder(world: &World, stands_on: &[String]) -> PathBuf {
    let here = world.path().join("here");
    std::fs::create_dir_all(&here).unwrap();
    let probe = || std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    for what in stands_on {
        match what.as_str() {
            "skills" => drop(world.write("ipfs_accelerate_py/worker/skillset/mine.onnx", probe())),
            "models" => {
                world.write("here/path/to/mine.onnx", probe());
                let list = r#"{"mine": {"name": "path/to/mine.onnx", "family": "vision", "size": "tiny", "modality": "image"}}"#;
                world.write("here/path/to/models.json", list);
            }
            "suites" => {
                let suite = r#"{"batch_sizes": [1], "sequence_lengths": [8], "warmup_iterations": 0, "benchmark_iterations": 1,
                    "benchmarks": ["inference"], "hardware_types": ["rten"], "model_families": {"embedding": ["bert-tiny"]}}"#;
                for name in ["my_benchmark_config.json", "custom_benchmark_config.json"] {
                    world.write(&format!("here/{name}"), suite);
                }
            }
            "stored" => {
                let Stored { world: made, run, again, .. } = &*STORED;
                for (name, run) in
                    [("20250302_123456", run), ("run1", run), ("run2", again), ("before", run), ("after", again)]
                {
                    copy(run, &here.join("benchmark_results").join(name));
                }
                let json = here.join("benchmark_results/gpt2_cuda_float16_20250410_120000.json");
                std::fs::copy(run.join("run.json"), json).unwrap();
                std::fs::create_dir_all(here.join("results")).unwrap();
                let database = made.path().join("stored/benchmarks.duckdb");
                for name in ["benchmark_db.duckdb", "results/benchmarks.duckdb"] {
                    std::fs::copy(&database, here.join(name)).unwrap();
                }
            }
            "other" => {
                let Stored { other, .. } = &*STORED;
                copy(other, &here.join("results").join(other.file_name().unwrap()));
            }
            unknown => panic!("nothing is known of {unknown}"),
        }
    }
    here
}

/// Whether a name begins with the start, and has the parts of the end after it with any text before each; the last is where it ends.
fn fits(name: &str, start: &str, end: &str) -> bool {
    let Some(rest) = name.strip_prefix(start) else { return false };
    match end.split_once('*') {
        None => rest.ends_with(end),
        Some((part, more)) => rest.match_indices(part).any(|(at, _)| fits(&rest[at..], part, more)),
    }
}

/// The files of a pattern with `*` for any text within a name.
fn files(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let Some((start, end)) = part.split_once('*') else {
            found = found.into_iter().map(|place| place.join(part)).filter(|place| place.exists()).collect();
            continue;
        };
        let entries =
            found.iter().filter_map(|place| std::fs::read_dir(place).ok()).flat_map(|entries| entries.flatten());
        let named = entries.map(|entry| entry.path());
        found = named
            .filter(|path| path.file_name().is_some_and(|name| fits(&name.to_string_lossy(), start, end)))
            .collect();
        found.sort();
    }
    found
}

struct Done<'a> {
    world: &'a World,
    here: &'a Path,
    ran: &'a Ran,
}

impl Done<'_> {
    /// Why an effect is not there; `None`: it is.
    fn lacks(&self, effect: &Effect) -> Option<String> {
        match effect {
            Effect::Says { says } => {
                let all = self.ran.stdout() + &self.ran.stderr();
                (!all.contains(says)).then(|| format!("it does not say '{says}'"))
            }
            Effect::File { file, has, lacks } => {
                let found = files(self.here, file);
                let text: String = found
                    .iter()
                    .map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned())
                    .collect();
                let missing =
                    has.iter().find(|part| !text.contains(*part)).map(|part| format!("{file} lacks '{part}'"));
                let wrong = lacks.iter().find(|part| text.contains(*part)).map(|part| format!("{file} has '{part}'"));
                text.is_empty().then(|| format!("there is no {file}")).or(missing).or(wrong)
            }
            Effect::Rows { rows, db } => {
                let mut command = self.world.command(&["query", rows, "--db", db, "--format", "json"]);
                command.current_dir(self.here);
                let asked = Ran::of(command);
                let answer: Value = serde_json::from_str(&asked.stdout()).unwrap_or_default();
                let none = answer.as_array().is_none_or(Vec::is_empty);
                none.then(|| format!("{db} has no row of {rows}: {}", asked.stderr()))
            }
            Effect::Run { run, models, plugins, precision } => {
                let Some(file) = files(self.here, &format!("{run}/*/run.json")).pop() else {
                    return Some(format!("no run is in {run}"));
                };
                let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
                let measured =
                    || skillbench_tests::cells(&document).iter().filter(|cell| cell["outcome"] == "measured");
                let of = |key: &str| {
                    let mut names: Vec<String> =
                        measured().filter_map(|cell| cell[key].as_str().map(String::from)).collect();
                    names.sort();
                    names.dedup();
                    names
                };
                let ran_in = |cell: &Value| cell["placement"]["precision"].as_str().map(String::from);
                let other = precision
                    .as_ref()
                    .and_then(|wanted| measured().map(ran_in).find(|ran| ran.as_ref() != Some(wanted)));
                let right = (&of("skill"), &of("plugin")) == (models, plugins) && other.is_none();
                (!right).then(|| {
                    format!(
                        "measured: {:?} on {:?} {other:?}, not {models:?} on {plugins:?}",
                        of("skill"),
                        of("plugin")
                    )
                })
            }
        }
    }
}

/// Runs a line, and says what is not as it should be.
fn try_line(line: &Line) -> Result<(), String> {
    let world = World::default();
    let here = folder(&world, &line.stands_on);
    let typed = line.small();
    let host = world.command(&[]);
    let mut shell = Command::new("sh");
    let program = typed.replacen("host", &format!("'{}'", host.get_program().to_string_lossy()), 1);
    shell.args(["-c", &program]).current_dir(&here);
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let ran = Ran::of(shell);
    let done = Done { world: &world, here: &here, ran: &ran };
    let code = (ran.code() != Some(line.exit)).then(|| format!("exit code {:?}, not {}", ran.code(), line.exit));
    let wrong: Vec<String> =
        code.into_iter().chain(line.effects.iter().filter_map(|effect| done.lacks(effect))).collect();
    let tail = |text: String| text.chars().rev().take(1500).collect::<Vec<_>>().into_iter().rev().collect::<String>();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("$ {typed}\n{}\n{}\n{}", wrong.join("\n"), tail(ran.stdout()), tail(ran.stderr()))),
    }
}

/// The lines whose place in the table is this one of so many.
fn try_lines(part: usize, of: usize) {
    let lines = TABLE.line.iter().enumerate().filter(|(place, _)| place % of == part);
    // What other tests do on the machine at the same time may make a figure implausible, which is no fault of the line.
    let again = |line: &Line, why: String| if why.contains("implausible") { try_line(line) } else { Err(why) };
    let tried = lines.map(|(_, line)| try_line(line).or_else(|why| again(line, why)));
    let failed: Vec<String> = tried.filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} lines fail:\n\n{}", failed.len(), failed.join("\n\n"));
}

#[test]
fn every_line_does_here_what_it_did_there_first_part() {
    try_lines(0, 2);
}

#[test]
fn every_line_does_here_what_it_did_there_second_part() {
    try_lines(1, 2);
}
