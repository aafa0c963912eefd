//! Nobody else of the machine gets at the browser, and it has no more rights than it needs.

use super::{Open, answer, open, probe_on};
use skillbench_plugin_api::Options;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::host_tables::HostTable;
use skillbench_testkit::{Listening, part};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// A process and all that it started.
fn tree(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = listed.flat_map(|list| list.split(' ').flat_map(str::parse).collect::<Vec<_>>()).collect();
    [pid].into_iter().chain(children.into_iter().flat_map(tree)).collect()
}

/// Ports that a process listens on.
fn ports(pid: u32) -> BTreeSet<u16> {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links: BTreeSet<String> =
        links.filter_map(|link| Some(fs::read_link(link.path()).ok()?.to_string_lossy().into_owned())).collect();
    let tables =
        ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let columns = rows.map(|row| row.split_whitespace().collect::<Vec<_>>());
    let listening = columns.filter(|row| row[3] == "0A" && links.contains(&format!("socket:[{}]", row[9])));
    listening.map(|row| u16::from_str_radix(row[1].rsplit(':').next().unwrap(), 16).unwrap()).collect()
}

fn arguments(pid: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split('\0').map(str::to_string).collect()
}

/// A line of a process's status.
fn status(pid: u32, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|value| value.split_whitespace().next()).unwrap_or_default().into()
}

/// What somebody else gets from a port: the start of the answer, empty where the port is gone by now.
fn ask(port: u16, path: &str, more: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return String::new() };
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n");
    let mut answer = vec![];
    let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut answer).map(drop));
    String::from_utf8_lossy(&answer).into()
}

#[test]
fn no_port_leads_to_devtools_or_to_the_page_without_the_secret() {
    let (instance, engine) = open(&[]);
    let before = answer(&instance.load(&probe_on(0)).unwrap());
    for process in tree(engine.process_id()) {
        assert_eq!(ports(process), BTreeSet::new(), "{:?}", arguments(process));
    }
    let ours = ports(std::process::id());
    assert!(!ours.is_empty(), "the page is served");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://127.0.0.1\r\n";
    for port in ours {
        for path in ["/", "/index.html", "/json", "/json/list", "/json/version", "/json/new?file:///etc/passwd"] {
            for more in ["", upgrade] {
                let got = ask(port, path, more);
                assert!(got.is_empty() || got.starts_with("HTTP/1.1 404"), "{port} {path}: {got}");
            }
        }
    }
    assert_eq!(answer(&instance.load(&probe_on(0)).unwrap()), before, "and nothing of it disturbs the page");
}

#[test]
fn the_command_line_names_a_pipe_and_neither_port_nor_secret() {
    let (_instance, engine) = open(&[]);
    let arguments = arguments(engine.process_id());
    assert!(arguments.iter().any(|argument| argument == "--remote-debugging-pipe"), "{arguments:?}");
    let betrays = |argument: &&String| ["port", "http", "ws:", "127.0.0.1"].iter().any(|word| argument.contains(word));
    assert_eq!(arguments.iter().find(betrays), None);
}

/// What the engine's name says of the browser is what the system says of it.
fn runs_as_it_says(more: &[(&str, &str)]) -> String {
    let (instance, engine) = open(more);
    let model = instance.load(&probe_on(0)).unwrap();
    let said = model.placement().unwrap().engine;
    let processes = tree(engine.process_id());
    assert!(processes.len() > 1);
    let root = processes.iter().any(|process| status(*process, "Uid") == "0");
    assert_eq!(root, said.contains(" as root "), "{said}");
    let filtered = processes.iter().any(|process| status(*process, "Seccomp") == "2");
    let unfiltered = arguments(engine.process_id()).iter().any(|argument| argument == "--no-sandbox");
    assert_ne!(filtered, unfiltered);
    assert_eq!(said.ends_with(" in its sandbox"), filtered, "{said}");
    assert_eq!(said.ends_with(" without its sandbox"), unfiltered, "{said}");
    said
}

#[test]
fn the_result_says_as_whom_and_in_what_sandbox_the_browser_runs() {
    let said = runs_as_it_says(&[]);
    // Where nobody may have a name space of its own, the browser as nobody has its sandbox.
    let mut nobody = Command::new("unshare");
    nobody.args(["--user", "true"]).uid(65534).gid(65534).current_dir("/");
    if nobody.status().is_ok_and(|status| status.success()) {
        assert!(said.ends_with("as nobody in its sandbox"), "{said}");
    }
}

#[test]
fn what_is_missing_of_the_safest_way_is_said_with_the_reason() {
    let said = runs_as_it_says(&[("browser_user", "no-such-user")]);
    let listening = Box::leak(Box::new(Listening::default()));
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    let given = [("browser", &*browser), ("ort_web", &ort_web), ("browser_user", "no-such-user")];
    let given = given.map(|(name, value)| (name.to_string(), value.to_string()));
    let host = HostTable::leak(listening);
    drop(BackendRef::linked::<Open>().unwrap().open(host, &Options(given.into_iter().collect())).unwrap());
    let heard = listening.heard();
    let of = |what: &str| heard.iter().find(|(name, _)| name == what).map(|(_, found)| found.as_str());
    assert!(said.ends_with(of("browser runs").unwrap()), "{said} {heard:?}");
    let lacks = of("browser runs less safely");
    assert_eq!(lacks.is_some(), said.contains(" as root ") || said.ends_with(" without its sandbox"), "{heard:?}");
    if status(std::process::id(), "Uid") == "0" {
        assert!(lacks.unwrap().contains("there is no user 'no-such-user'"), "{heard:?}");
    }
}
