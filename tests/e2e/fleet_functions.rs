//! Benchmarks that are plain functions, on the machines of a fleet that have them.

use super::fleet::{Part, agent, documents, lab, world};
use super::functions::pausing;
use serde_json::Value;
use skillbench_tests::{Ran, World, cells};

/// An agent with a library of functions in a folder of its own.
fn agent_with_own(world: &World, name: &str) -> Part {
    world.host(&["fleet", "user", "lab", name, "--role", "agent"]).exits_with(0);
    let pass = format!("{name}.fleet");
    let arguments = ["fleet", "agent", &pass, "--plugin", "rten", "--search-path", "own"];
    Part::start(world, name, &arguments).says("is ready")
}

fn bench(world: &World, more: &[&str]) -> Ran {
    world.host(&[&["bench", "run", "--fleet", "lab", "--budget", "0.05"], more].concat())
}

/// The functions of a run, with how each ended.
fn ended(run: &Value) -> Vec<(&str, &str)> {
    cells(run).iter().map(|cell| (cell["benchmark"].as_str().unwrap(), cell["outcome"].as_str().unwrap())).collect()
}

#[test]
fn functions_are_measured_on_each_machine_that_has_them() {
    let world = world();
    let _server = lab(&world);
    pausing(&world, 1000);
    let (_h1, _h2) = (agent(&world, "h1", "rten"), agent_with_own(&world, "h2"));

    let all = bench(&world, &["--on", "each-machine", "--category", "unit", "--format", "json"]);
    let runs = documents(all.exits_with(4));
    let machines: Vec<&str> = runs.iter().map(|run| run["environment"]["fleet"]["machine"].as_str().unwrap()).collect();
    assert_eq!(machines, ["h1", "h2"]);
    let examples: Vec<_> = ended(&runs[0]);
    assert!(!examples.is_empty() && examples.iter().all(|(_, outcome)| *outcome == "measured"), "{examples:?}");
    let own = ended(&runs[1]);
    assert!(examples.iter().all(|one| own.contains(one)), "{own:?}");
    for (name, outcome) in [("run_steps", "measured"), ("run_failing", "failed"), ("run_crashing", "crashed")] {
        assert!(own.contains(&(name, outcome)), "{own:?}");
    }

    // The submitter has no such library: what it needs to know of it the machine has told.
    let one = bench(&world, &["run_optional", "--option", "steps=3"]);
    let told = one.exits_with(0).stdout();
    assert!(told.contains("h2: ") && told.contains("run_optional") && !told.contains("h1"), "{told}");
    let submissions = world.host(&["fleet", "status", "--format", "csv"]).exits_with(0).stdout();
    let id = submissions.lines().skip(1).filter_map(|line| line.split(',').next()).max().unwrap();
    world.host(&["fleet", "verify", id]).exits_with(0).tells("1 cells: 0 lost, 0 twice, 0 not as signed");
    let folder = world.path().join(format!("results/{id}-h2"));
    assert_eq!(std::fs::read_to_string(folder.join("attachments/0/steps.txt")).unwrap(), "three");
    for file in ["results.json", "success-rates.csv", "summary.csv"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let kept = ["query", "SELECT benchmark, family FROM benchmark_results WHERE benchmark = 'run_optional'"];
    world.host(&[&kept[..], &["--format", "csv"]].concat()).exits_with(0).tells("run_optional,function");

    // Machines of one class stand for each other, and deal the functions out where that is asked for.
    let runs = documents(bench(&world, &["run_hash_join", "--format", "json"]).exits_with(0));
    assert_eq!(runs.len(), 1);
    let runs = documents(bench(&world, &["examples", "--spread", "--format", "json"]).exits_with(0));
    let mut dealt: Vec<(&str, &str)> = runs.iter().flat_map(ended).collect();
    dealt.sort_unstable();
    dealt.dedup();
    assert!(runs.len() == 2 && dealt.len() == 3, "each of the three on one machine: {dealt:?}");
    assert_eq!(runs.iter().map(|run| cells(run).len()).sum::<usize>(), 3);
}

#[test]
fn what_no_machine_has_is_told_before_anything_is_measured() {
    let world = world();
    let _server = lab(&world);
    let _h1 = agent(&world, "h1", "rten");
    let refused = |more: &[&str], told: &str| {
        bench(&world, more).exits_with(2).tells(told);
    };
    refused(&["run_hash_joim"], "did you mean run_hash_join");
    refused(&["run_hash_join", "run_steps"], "there is no benchmark 'run_steps'");
    refused(&["inference"], "host run --bench inference");
    refused(&["run_hash_join", "--option", "steps=3"], "none of the chosen benchmarks takes the option 'steps'");
    refused(&["run_hash_join", "--dir", "own"], "a folder of this machine");
    refused(&["run_hash_join", "--on", "h9"], "no agent 'h9'");
    refused(&["--model", "gpt2"], "has none");
    assert!(!world.path().join("results").exists());
}
