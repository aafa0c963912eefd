//! The recipes for CI services: each of their lines is run, as the service would run it.

use super::docs::{page, shell_in};
use skillbench_tests::World;

/// The shell lines of the recipes of a page, in order: what stands behind `run:`, and the items of a `script:`.
fn scripts(page: &str) -> Vec<String> {
    let (mut scripts, mut block, mut of_script) = (vec![], None::<(usize, String)>, None::<usize>);
    let recipes = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    for line in recipes.flat_map(|recipe| recipe.lines().chain([""])) {
        let indent = line.len() - line.trim_start().len();
        if let Some((depth, text)) = &mut block {
            if indent > *depth {
                *text += &format!("{}\n", line.trim_start());
                continue;
            }
            scripts.push(std::mem::take(text));
            block = None;
        }
        let entry = line.trim_start().trim_start_matches("- ");
        of_script = of_script.filter(|depth| indent > *depth);
        match entry.strip_prefix("run:").map(str::trim) {
            // The text of a block stands deeper than its key.
            Some("|") => block = Some((line.len() - entry.len(), String::new())),
            Some(command) => scripts.push(command.into()),
            None if entry == "script:" => of_script = Some(indent),
            None if of_script.is_some() => scripts.push(entry.into()),
            None => {}
        }
    }
    scripts
}

#[test]
fn every_line_of_the_recipes_runs() {
    let page = page("docs/ci.md");
    let all = scripts(&page);
    let lines = page
        .lines()
        .filter(|line| line.trim_start().trim_start_matches("- ").starts_with("host ") || line.contains("run: host"));
    let lines = lines.count();
    assert_eq!(
        all.iter().flat_map(|script| script.lines()).filter(|line| line.starts_with("host ")).count(),
        lines,
        "{all:#?}"
    );
    assert!(lines >= 8, "{all:#?}");

    let world = World::default();
    for side in ["base", "head"] {
        world.host(&["plugin", "new", "acme", "--lang", "c", "--dir", side]).exits_with(0);
        world.shell(&format!("mv {side}/acme/* {side}/ && rmdir {side}/acme")).exits_with(0);
    }
    for script in all {
        // What stays on a runner is in the folder of this test; runtimes are where the user has them.
        let here = script.replace("$HOME/results", "results");
        let ran = shell_in(&world, &format!("set -e; GITHUB_STEP_SUMMARY=summary.md\n{here}"));
        // Tests beside this one make the machine slower in one half of it: a verdict is a verdict.
        let verdict = script.contains("--fail-on") && ran.code() == Some(1);
        assert!(ran.code() == Some(0) || verdict, "{:?} {script}\n{}\n{}", ran.code(), ran.stdout(), ran.stderr());
    }
    let read = |name: &str| std::fs::read_to_string(world.path().join(name)).unwrap();
    assert!(read("speed.md").contains("| latency_ms "), "{}", read("speed.md"));
    assert!(read("summary.md").contains("# Benchmark report"), "{}", read("summary.md"));
}

#[test]
fn a_build_that_is_slower_fails_the_recipe() {
    let world = World::default();
    for side in ["base", "head"] {
        world.host(&["plugin", "new", "acme", "--lang", "c", "--dir", side]).exits_with(0);
    }
    let source = world.path().join("head/acme/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let fast = "float sum = is_product(out) ? 0 : at(left, row, column);";
    assert!(text.contains(fast));
    // Each element is computed many times over.
    let slow =
        "volatile float again = 0; int turn; for (turn = 0; turn < 400; turn++) again += at(left, row, 0);\n      ";
    world.write("head/acme/plugin.c", text.replace(fast, &format!("{slow}{fast}")));
    world.shell("make -s -C base/acme && make -s -C head/acme").exits_with(0);
    let compared = "host compare base/acme/libacme.so head/acme/libacme.so --search-path base/acme --interleave --model probe-mlp --fail-on-regression 5 --format markdown";
    let ran = shell_in(&world, compared);
    assert_eq!(ran.code(), Some(1), "{}\n{}", ran.stdout(), ran.stderr());
}
