//! What is carried to a machine without a network: runtimes in pieces, and a portable folder that needs no build.

use serde_json::Value;
use skillbench_tests::{Ran, World, build_folder, cells, outcomes, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A world whose runtimes are its own: nothing is installed.
struct Bare {
    world: World,
    /// A program in front of the host: what takes the network away.
    before: Vec<&'static str>,
}

impl Bare {
    fn new() -> Bare {
        Bare { world: World::default(), before: vec![] }
    }

    fn command(&self, host: &Path, arguments: &[&str]) -> Command {
        let own = self.world.command(&[]);
        let mut line: Vec<&std::ffi::OsStr> = self.before.iter().map(|word| word.as_ref()).collect();
        line.push(host.as_ref());
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).args(arguments).current_dir(self.world.path());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("SKILLBENCH_DATA", self.world.path().join("data"));
        command
    }

    fn host(&self, arguments: &[&str]) -> Ran {
        Ran(self.command(&build_folder().join("host"), arguments).output().unwrap())
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.world.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy(from: &Path, names: &[&str], to: &Path) {
    for name in names {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// "unshare -n", where this user may do that; else what is shown here is shown with a network, and says so.
fn without_network() -> Vec<&'static str> {
    for way in [vec!["unshare", "--net"], vec!["unshare", "--map-root-user", "--net"]] {
        if Command::new(way[0]).args(&way[1..]).arg("true").output().is_ok_and(|ran| ran.status.success()) {
            return way;
        }
    }
    eprintln!("skipped: no network namespace can be made here, so the network stays");
    vec![]
}

/// Packs one small package in pieces of 2 MB: of it nothing is left out, so that the pieces are those of its wheel.
fn pieces(bare: &Bare) -> (PathBuf, Vec<String>) {
    let packed = bare.folder("packed");
    let arguments = ["runtime", "pack", "onnxruntime-ep-webgpu", "-o", "packed", "--piece-size", "2MB"];
    bare.host(&arguments).exits_with(0).tells("as it was downloaded");
    let names = files(&packed);
    assert!(names.len() > 3, "{names:?}");
    for name in names.iter().filter(|name| !name.ends_with(".json")) {
        assert!(std::fs::metadata(packed.join(name)).unwrap().len() <= 2_000_000, "{name}");
    }
    (packed, names)
}

#[test]
fn what_is_carried_in_pieces_measures_on_a_machine_without_a_network() {
    let packing = Bare::new();
    let pack = ["runtime", "pack", "cpu,openvino", "-o", "packed", "--piece-size", "20MB"];
    packing.host(&pack).exits_with(0);
    let script = workspace().join("scripts/pack-portable");
    let portable = packing.folder("packed");
    let mut command = Command::new(script);
    command.arg("-o").arg(&portable).arg("--built").arg(build_folder());
    Ran::of(command).exits_with(0).tells("for glibc");

    let there = Bare { before: without_network(), ..Bare::new() };
    let (first, second) = (there.folder("first"), there.folder("second"));
    for (index, name) in files(&portable).iter().enumerate() {
        let half = if index % 2 == 0 || name.ends_with(".json") { &first } else { &second };
        copy(&portable, &[name], half);
    }
    // The portable folder comes first: without it there is no host.
    let all = there.folder("program");
    let own: Vec<String> = files(&portable).into_iter().filter(|name| !name.ends_with(".json")).collect();
    for name in own.iter().filter(|name| name.starts_with("skillbench-") || *name == "unpack") {
        copy(&portable, &[name], &all);
    }
    let unpack =
        |folder: &Path| Ran(Command::new("sh").arg(folder.join("unpack")).arg(there.folder("opt")).output().unwrap());
    let piece = own.iter().find(|name| name.ends_with("tar.gz.002")).expect("two pieces at least");
    std::fs::remove_file(all.join(piece)).unwrap();
    unpack(&all).exits_with(3).tells(piece);
    std::fs::write(all.join(piece), "cut").unwrap();
    unpack(&all).exits_with(1).tells("carry again").tells(piece);
    copy(&portable, &[piece], &all);
    unpack(&all).exits_with(0);

    let host = there.world.path().join("opt/skillbench/host");
    let run = |arguments: &[&str]| Ran(there.command(&host, arguments).output().unwrap());
    run(&["runtime", "install", "cpu,openvino", "--from", "first", "--partial"]).exits_with(0).tells("pieces are here");
    run(&["runtime", "install", "cpu,openvino", "--from", "second"]).exits_with(0).tells("is installed");
    let measure =
        ["run", "--format", "json", "--plugin", "rten,cpu,openvino", "--model", "bert-tiny", "--batch-sizes", "1"];
    let more = ["--sequence-lengths", "32", "--bench", "inference", "--budget", "0.1"];
    let ran = run(&[&measure[..], &more[..]].concat());
    let document: Value = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    assert_eq!(outcomes(&document), ["measured"; 3]);
    for cell in cells(&document) {
        assert_eq!(cell["verification"]["status"], "passed", "{cell:#}");
    }
}

#[test]
fn a_carried_folder_that_is_not_whole_or_not_right_is_refused_by_the_file() {
    let bare = Bare::new();
    let (packed, names) = pieces(&bare);
    let (manifest, pieces): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| name.ends_with(".json"));
    let (manifest, name) = (manifest[0], "onnxruntime-ep-webgpu");
    let install = |from: &str| bare.host(&["runtime", "install", name, "--from", from]);
    let with = |folder: &str, spoil: &dyn Fn(&Path)| {
        let at = bare.folder(folder);
        names.iter().for_each(|name| copy(&packed, &[name], &at));
        spoil(&at);
        install(folder)
    };
    let edit = |at: &Path, from: &str, to: &str| {
        let text = std::fs::read_to_string(at.join(manifest)).unwrap();
        assert!(text.contains(from));
        std::fs::write(at.join(manifest), text.replace(from, to)).unwrap();
    };

    bare.folder("empty");
    install("empty").exits_with(1).tells("host runtime pack onnxruntime-ep-webgpu");
    install("nowhere").exits_with(1).tells("nowhere");
    with("missing", &|at| std::fs::remove_file(at.join(pieces[1])).unwrap())
        .exits_with(1)
        .tells(pieces[1])
        .tells("--partial");
    with("cut", &|at| std::fs::write(at.join(pieces[0]), "cut").unwrap())
        .exits_with(1)
        .tells(pieces[0])
        .tells("3 bytes");
    let flip = |at: &Path| {
        let mut bytes = std::fs::read(at.join(pieces[0])).unwrap();
        bytes[1000] ^= 1;
        std::fs::write(at.join(pieces[0]), bytes).unwrap();
    };
    with("hash", &flip).exits_with(1).tells(pieces[0]).tells("sha256");
    with("alone", &|at| std::fs::remove_file(at.join(manifest)).unwrap()).exits_with(1).tells("carry it with them");
    with("text", &|at| std::fs::write(at.join(manifest), "{").unwrap()).exits_with(1).tells(manifest);
    with("later", &|at| edit(at, "\"version\": 1", "\"version\": 2"))
        .exits_with(1)
        .tells("expected skillbench-runtime 1");
    // A manifest that agrees with changed pieces does not make them what the registry pins.
    with("pin", &|at| edit(at, "\"pinned\": \"5d8c", "\"pinned\": \"0000")).exits_with(1).tells("refused");
    let consistent = |at: &Path| {
        let sha256 = |at: &Path| skillbench_record::hash::sha256(&at.join(pieces[0])).unwrap();
        let before = sha256(at);
        flip(at);
        edit(at, &before, &sha256(at));
    };
    with("forged", &consistent).exits_with(1).tells("the registry pins");
    let rename = |at: &Path| {
        edit(at, "\"package_version\": \"0.4.0\"", "\"package_version\": \"0.3.9\"");
        for name in &names {
            std::fs::rename(at.join(name), at.join(name.replace("0.4.0", "0.3.9"))).unwrap();
        }
    };
    with("version", &rename).exits_with(1).tells("0.3.9").tells("needs 0.4.0");
    assert!(
        !bare.world.path().join("data/runtimes/onnxruntime-ep-webgpu/0.4.0").exists(),
        "nothing of these is installed"
    );

    // Its pieces joined are the wheel, and as that it is taken as well.
    let wheel = bare.folder("wheel").join("onnxruntime_ep_webgpu-0.4.0-py3-none-manylinux_2_28_x86_64.whl");
    let joined: Vec<u8> = pieces.iter().flat_map(|name| std::fs::read(packed.join(name)).unwrap()).collect();
    std::fs::write(&wheel, &joined[..joined.len() - 1]).unwrap();
    install("wheel").exits_with(1).tells("the registry pins");
    std::fs::write(&wheel, joined).unwrap();
    install("wheel").exits_with(0).tells("is installed");
    install("wheel").exits_with(0).tells("is there already");
}

#[test]
fn pieces_that_wait_are_listed_and_those_of_another_cutting_are_given_up_by_name() {
    let bare = Bare::new();
    let (packed, names) = pieces(&bare);
    let part = bare.folder("part");
    names
        .iter()
        .filter(|name| name.ends_with(".json") || name.ends_with(".001"))
        .for_each(|name| copy(&packed, &[name], &part));
    let install = |from: &str| bare.host(&["runtime", "install", "onnxruntime-ep-webgpu", "--from", from, "--partial"]);
    install("part").exits_with(0).tells("1 of 4 pieces are here");
    bare.host(&["runtime", "list"]).exits_with(0).tells("1 of 4 pieces");
    bare.host(&["runtime", "pack", "onnxruntime-ep-webgpu", "-o", "again", "--piece-size", "3MB"]).exits_with(0);
    let again = bare.folder("again");
    let last = files(&again).into_iter().find(|name| name.ends_with(".003")).unwrap();
    std::fs::remove_file(again.join(&last)).unwrap();
    install("again").exits_with(0).tells("given up").tells("2 of 3 pieces are here").tells(&last);
    bare.host(&["runtime", "remove", "onnxruntime-ep-webgpu"]).exits_with(0);
    // A broken piece does not cost those that are whole.
    let broken = bare.folder("broken");
    names.iter().filter(|name| !name.ends_with(".004")).for_each(|name| copy(&packed, &[name], &broken));
    let first = names.iter().find(|name| name.ends_with(".001")).unwrap();
    std::fs::write(broken.join(first), "cut").unwrap();
    install("broken").exits_with(1).tells(first);
    bare.host(&["runtime", "list"]).exits_with(0).tells("2 of 4 pieces");
    install("packed").exits_with(0).tells("is installed");
}

#[test]
fn a_full_disk_is_told_before_anything_is_written_and_the_pieces_stay_good() {
    let bare = Bare::new();
    pieces(&bare);
    let small = bare.folder("small");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(&small).output();
    if !mounted.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: this user cannot mount a small file system");
        return;
    }
    let mut command = bare
        .command(&build_folder().join("host"), &["runtime", "install", "onnxruntime-ep-webgpu", "--from", "packed"]);
    let ran = Ran(command.env("SKILLBENCH_DATA", &small).output().unwrap());
    let left: Vec<String> = files(&small.join("runtimes/onnxruntime-ep-webgpu"));
    let _ = Command::new("umount").arg(&small).output();
    ran.exits_with(1).tells("are free");
    assert!(left.is_empty(), "{left:?}");
    bare.host(&["runtime", "install", "onnxruntime-ep-webgpu", "--from", "packed"]).exits_with(0);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn cuda_of_a_python_environment_is_found_and_used_and_what_is_missing_is_named() {
    let bare = Bare::new();
    let environment = bare.folder("site-packages");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
        .arg(&environment)
        .arg("nvidia-cuda-runtime==13.0.96");
    Ran::of(pip).exits_with(0);
    let mut command = bare.command(&build_folder().join("host"), &["why", "cuda", "--format", "json"]);
    let story = Ran(command.env("PYTHONPATH", &environment).output().unwrap());
    let folder = environment.join("nvidia/cu13/lib");
    story.tells("nvidia-cuda-runtime is found on this machine, version 13.0.96");
    let rows: Vec<Value> = serde_json::from_str(&story.stdout()).unwrap();
    let told = |step: &str| rows.iter().find(|row| row["step"] == step).and_then(|row| row["what"].as_str()).unwrap();
    assert_eq!(told("looked at libcudart.so.13"), folder.join("libcudart.so.13").to_str().unwrap());
    assert!(told("looked at versions").starts_with("CUDA 13.0"), "{}", told("looked at versions"));
    story.tells("host runtime pack nvidia-cudnn -o DIR");
    if told("looked at libcudnn.so.9").contains("cannot open") {
        assert!(told("open").contains("cuDNN 9 are missing"), "{}", told("open"));
    }
}

#[test]
fn a_gpu_check_says_what_it_cannot_check_and_rehearses_on_another_backend() {
    let bare = Bare::new();
    let portable = bare.folder("portable");
    let mut command = Command::new(workspace().join("scripts/pack-portable"));
    Ran(command.arg("-o").arg(&portable).arg("--built").arg(build_folder()).output().unwrap()).exits_with(0);
    let check = |more: &[&str]| {
        let mut command = bare.command(Path::new("bash"), &[portable.join("gpu-check").to_str().unwrap()]);
        command.args(["--from", "portable", "--to", "there"]).args(more);
        Ran::of(command)
    };
    let report = |out: &str| std::fs::read_to_string(bare.world.path().join(out).join("report.md")).unwrap();

    let ran = check(&["--out", "none"]);
    if ran.code() == Some(5) {
        ran.tells("cuda: ").tells("rocm: ").tells("libcudnn.so.9").tells("inference: not checked");
        assert!(report("none").contains("| inference | not checked"));
    }
    // Two minutes are not enough for everything: what there is by then is kept, and what was left is named.
    let ran = check(&["--out", "some", "--plugin", "rten", "--minutes", "2"]);
    ran.exits_with(1).tells("written: ");
    let report = report("some");
    for good in ["Rules of a plugin, held by rten", "All figures", "The page"] {
        assert!(report.contains(&format!("| {good} | good |")), "{good}: {report}");
    }
    assert!(report.contains("no time was left") || report.contains("stopped after"), "{report}");
    assert!(bare.world.path().join("some/results.tar.gz").is_file());

    // With a piece too few nothing begins.
    bare.host(&["runtime", "pack", "onnxruntime-ep-webgpu", "-o", "portable", "--piece-size", "4MB"]).exits_with(0);
    let of_runtime = files(&portable).into_iter().find(|name| name.ends_with(".whl.001")).unwrap();
    std::fs::remove_file(portable.join(&of_runtime)).unwrap();
    check(&["--out", "again", "--plugin", "webgpu"]).exits_with(3).tells(&of_runtime);
    let piece = files(&portable).into_iter().find(|name| name.ends_with("tar.gz.002")).unwrap();
    std::fs::remove_file(portable.join(&piece)).unwrap();
    std::fs::remove_dir_all(bare.world.path().join("there")).unwrap();
    check(&["--out", "again"]).exits_with(3).tells(&piece);
}
