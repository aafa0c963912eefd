//! What people see in a terminal: lines that fit it, the winner, causes once.

use skillbench_tests::{Ran, World};

/// The host in a terminal of so many columns.
fn in_columns(world: &World, columns: usize, arguments: &[&str]) -> Ran {
    let mut command = world.command(arguments);
    command.env("COLUMNS", columns.to_string());
    Ran::of(command)
}

/// Two models on rten, and on a backend that is not here.
const RUN: [&str; 12] = [
    "run",
    "--plugin",
    "rten,cuda",
    "--model",
    "bert-tiny,vit-tiny",
    "--bench",
    "inference",
    "--batch-sizes",
    "1,2",
    "--budget",
    "0.1",
    "--no-save",
];

fn assert_fits(ran: &Ran, columns: usize) {
    for line in ran.stdout().lines().chain(ran.stderr().lines().collect::<Vec<_>>()) {
        // A path or an id is there to be copied, and does not break.
        let breaks = line.trim().contains(' ');
        assert!(!breaks || line.chars().count() <= columns, "{} of {columns}: {line}", line.chars().count());
    }
}

#[test]
fn no_line_of_a_run_or_a_comparison_is_wider_than_the_terminal() {
    let world = World::apart();
    for columns in [80, 120, 200] {
        let ran = in_columns(&world, columns, &RUN);
        ran.exits_with(4);
        // A heading may break where its column is narrow.
        assert!(["latency", "(ms)", "± "].iter().all(|part| ran.stdout().contains(part)), "{}", ran.stdout());
        assert_fits(&ran, columns);
    }
    let mut runs: Vec<String> = std::fs::read_dir(world.path().join("results"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path().display().to_string())
        .filter(|path| !path.ends_with(".duckdb"))
        .collect();
    runs.sort();
    for columns in [80, 120, 200] {
        let compared = in_columns(&world, columns, &["compare", &runs[0], &runs[1]]);
        assert!(compared.stdout().contains("times (95% interval)"), "{}{}", compared.stdout(), compared.stderr());
        assert_fits(&compared, columns);
        for other in [&["devices"][..], &["doctor"], &["models"], &["runtime", "list"], &["plugin", "list"]] {
            assert_fits(&in_columns(&world, columns, other), columns);
        }
    }
}

#[test]
fn a_narrow_terminal_names_the_columns_it_has_no_room_for_and_wide_shows_them() {
    let world = World::apart();
    let narrow = in_columns(&world, 80, &["models", "--family", "vision"]);
    assert!(!narrow.stdout().contains("gflops_at"));
    assert!(narrow.stderr().contains("no room for:") && narrow.stderr().contains("gflops_at"), "{}", narrow.stderr());
    for whole in [
        in_columns(&world, 80, &["models", "--family", "vision", "--wide"]),
        world.host(&["models", "--family", "vision"]),
    ] {
        assert!(whole.stdout().contains("gflops_at") && !whole.stderr().contains("no room for"));
    }
}

#[test]
fn a_reason_is_told_once_with_a_count_and_models_are_headings() {
    let world = World::apart();
    let ran = world.host(&RUN);
    let table = ran.stdout();
    assert_eq!(table.matches("no NVIDIA GPU").count(), 1, "{table}");
    assert!(table.contains("(1) unavailable, 8 cells on cuda of bert-tiny, vit-tiny: "), "{table}");
    assert_eq!(table.matches("unavailable (1)").count(), 8, "{table}");
    assert_eq!(table.matches("\nbert-tiny, 4.39 M parameters").count(), 1, "{table}");
    let progress = ran.stderr();
    assert_eq!(progress.matches("no NVIDIA GPU").count(), 1, "{progress}");
    assert_eq!(progress.matches("for a reason given above").count(), 7, "{progress}");
}

#[test]
fn colours_are_for_terminals_and_whoever_forces_them() {
    let world = World::apart();
    assert!(!world.host(&["devices"]).stdout().contains('\u{1b}'));
    let coloured = |name: &str, value: &str| {
        let mut command = world.command(&["devices"]);
        command.env("CLICOLOR_FORCE", "1").env(name, value);
        Ran::of(command).stdout().contains("\u{1b}[")
    };
    assert!(coloured("LANG", "C"));
    assert!(!coloured("NO_COLOR", "1"));
}
