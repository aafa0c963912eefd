//! The program where it was installed: under its own name, moved, and as pip lays it out; and what shells and `man` get to know of it.

use skillbench_tests::{World, build_folder, workspace};
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn a_report_of_a_fault_begins_with_what_the_program_was_built_from_and_a_run_has_it_too() {
    let world = World::default();
    let told = world.host(&["--version", "--verbose"]).stdout();
    for fact in
        ["built from  no release, rustc ", "contract    1.", "worker      /", "DuckDB      v1.", "system      linux "]
    {
        assert!(told.contains(fact), "{fact}: {told}");
    }
    assert_eq!(world.host(&["--version"]).stdout(), format!("host {}\n", env!("CARGO_PKG_VERSION")));
    let (_, document) = world.run(&["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference"]);
    let build = &document["environment"]["host_build"];
    assert!(build["compiler"].as_str().unwrap().starts_with("rustc "), "{build}");
    assert_eq!(build["optimized"], true);
}

#[test]
fn called_by_another_name_it_names_its_commands_so() {
    let world = World::apart();
    let skillbench = world.path().join("bin/skillbench");
    std::fs::create_dir_all(skillbench.parent().unwrap()).unwrap();
    symlink(build_folder().join("host"), &skillbench).unwrap();
    let told = world.shell("bin/skillbench devices; bin/skillbench plugin --help");
    told.tells("`skillbench runtime install cpu`").tells("skillbench plugin list");
    let help = world.host(&["plugin", "--help"]).stdout();
    assert!(help.contains("host plugin list") && !help.contains("skillbench plugin"), "{help}");
}

#[test]
fn shells_and_man_know_every_command() {
    let world = World::default();
    world.host(&["man", "pages"]).exits_with(0);
    let page = std::fs::read_to_string(world.path().join("pages/host-run.1")).unwrap();
    assert!(page.contains("batch") && page.contains(".TH"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(world.host(&["completions", shell]).stdout().contains("throughput") || shell != "bash");
    }
    world.write("completions", world.host(&["completions", "bash"]).stdout());
    world.shell("bash -n completions").exits_with(0);
}

#[test]
fn what_a_release_holds_runs_where_it_is_unpacked_and_moved_and_from_pip() {
    let world = World::default();
    let out = world.path().join("out");
    let packed = Command::new(workspace().join("scripts/release")).arg(&out).arg("--built").output().unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    world.shell("cd out && sha256sum --quiet --check SHA256SUMS").exits_with(0);
    let unit = "/usr/lib/systemd/system/skillbench-agent@.service";
    world.shell(&format!("! command -v dpkg-deb || dpkg-deb --contents out/*.deb | grep {unit}")).exits_with(0);

    let run = "run --plugin rten --model probe-mlp --batch-sizes 1 --bench inference --budget 0.1";
    world.shell("mkdir home && tar xf out/skillbench-*-linux-$(uname -m).tar.gz && HOME=$PWD/home sh skillbench-*/install $PWD/one").exits_with(0);
    world.shell("mv one other && rm -r skillbench-*").exits_with(0);
    world.shell(&format!("other/bin/skillbench {run}")).exits_with(0).tells("measured");
    world
        .shell("other/bin/skillbench-check other/lib/skillbench/libskillbench_rten.so --rules right,batch")
        .exits_with(0);

    // A clone in which nothing is built takes what is installed.
    let copied = format!("mkdir clone && cp -r '{0}/scripts' '{0}/Cargo.toml' clone/", workspace().display());
    world.shell(&copied).exits_with(0);
    let run_there = run.replacen("run", "clone/scripts/run", 1);
    let ran = world.shell(&format!("PATH=$PWD/other/bin:$PATH {run_there}"));
    ran.exits_with(0).tells("other/bin/skillbench, which is installed").tells("measured");

    let pip = "python3 -m pip install --quiet --no-index --no-deps --disable-pip-version-check --root-user-action=ignore --target pip out/*.whl";
    world.shell(pip).exits_with(0);
    world.shell(&format!("PYTHONPATH=pip python3 -m skillbench {run}")).exits_with(0).tells("measured");
    let module = "import skillbench; run = skillbench.run(plugin=['rten'], model=['probe-mlp'], bench=['inference'], \
                  arguments=['--budget=0.1']); print({row['outcome'] for row in run.rows}, run.exit_code)";
    let told = world.shell(&format!("PYTHONPATH=pip python3 -c \"{module}\"")).exits_with(0).stdout();
    assert_eq!(told.trim(), "{'measured'} 0");
    let extras = world.shell("grep Requires-Dist pip/skillbench-*.dist-info/METADATA").stdout();
    assert!(extras.contains("onnxruntime==") && extras.contains("openvino=="), "{extras}");
}
