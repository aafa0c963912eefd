use super::server::{COMMIT, Faults, Files, Server, model};
use super::*;
use crate::user_models::samples::Sample;
use std::time::Duration;

struct Here {
    server: Server,
    settings: Settings,
    cache: tempfile::TempDir,
}

fn here(files: Files, faults: Faults) -> Here {
    let server = Server::start(files, faults);
    let cache = tempfile::tempdir().unwrap();
    let settings = Settings {
        endpoint: server.endpoint.clone(),
        cache: cache.path().join("hub"),
        token: None,
        offline: None,
        proxy: None,
        certificates: vec![],
        attempts: 3,
        pause: Duration::from_millis(1),
        read_timeout: Duration::from_millis(300),
    };
    Here { server, settings, cache }
}

fn id(text: &str) -> ModelId {
    ModelId::parse(text).unwrap()
}

impl Here {
    fn bring(&self, text: &str) -> Result<UserModel, HubError> {
        bring(&id(text), &self.settings, &mut |_| {})
    }

    fn refused(&self, text: &str) -> String {
        self.bring(text).unwrap_err().to_string()
    }

    fn folder(&self) -> std::path::PathBuf {
        self.settings.cache.join("models--org--tiny")
    }
}

#[test]
fn ids_have_an_owner_a_name_and_perhaps_a_revision_and_a_file() {
    let parts = |text: &str| ModelId::parse(text).map(|id| (id.repository, id.revision, id.file));
    let some = |text: &str| Some(text.to_string());
    assert_eq!(parts("org/name"), Some(("org/name".into(), None, None)));
    assert_eq!(parts("org/n.a_m-e@v1.0"), Some(("org/n.a_m-e".into(), some("v1.0"), None)));
    assert_eq!(parts("org/name@refs/pr/1"), Some(("org/name".into(), some("refs/pr/1"), None)));
    assert_eq!(parts("org/name:onnx/a.onnx"), Some(("org/name".into(), None, some("onnx/a.onnx"))));
    assert_eq!(parts("org/name@v1:onnx/a.onnx"), Some(("org/name".into(), some("v1"), some("onnx/a.onnx"))));
    for bad in [
        "name",
        "/name",
        "org/",
        "org/na me",
        "../name",
        "org/..",
        "org/name@",
        "org/name/deep",
        "org/name@a/../b",
        "org/name:../a.onnx",
        "org/name:config.json",
        "org/name/onnx/a.onnx",
        "https://org/name",
    ] {
        assert_eq!(ModelId::parse(bad), None, "{bad}");
    }
    assert_eq!(id("org/name@v1:onnx/a.onnx").to_string(), "org/name@v1:onnx/a.onnx");
}

#[test]
fn a_model_is_fetched_with_its_weights_and_configuration_and_nothing_else() {
    let here = here(model(), Faults::default());
    let user_model = here.bring("org/tiny").unwrap();
    assert_eq!((user_model.id.as_str(), user_model.kind.architecture.as_str()), ("tiny", "encoder-only"));
    let snapshot = here.folder().join("snapshots").join(COMMIT);
    for file in ["config.json", "onnx/model.onnx", "onnx/model.onnx_data"] {
        assert_eq!(std::fs::read(snapshot.join(file)).unwrap(), model()[file], "{file}");
    }
    assert!(!snapshot.join("pytorch_model.bin").exists() && !snapshot.join("onnx/model_int8.onnx").exists());
    assert_eq!(std::fs::read_to_string(here.folder().join("refs/main")).unwrap(), COMMIT);
    assert!(!here.cache.path().join("outside.json").exists());
    let left = std::fs::read_dir(here.folder().join("blobs")).unwrap().flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains("incomplete")));
}

#[cfg(unix)]
#[test]
fn the_cache_has_the_form_that_other_tools_read() {
    let here = here(model(), Faults::default());
    here.bring("org/tiny").unwrap();
    let link = std::fs::read_link(here.folder().join("snapshots").join(COMMIT).join("onnx/model.onnx")).unwrap();
    let text = link.to_str().unwrap();
    assert!(text.starts_with("../../../blobs/") && text.len() == "../../../blobs/".len() + 64, "{text}");
}

#[test]
fn what_is_in_the_cache_is_not_fetched_again() {
    let here = here(model(), Faults::default());
    here.bring("org/tiny").unwrap();
    let before = here.server.paths().len();
    here.bring("org/tiny").unwrap();
    assert_eq!(here.server.paths().len(), before + 1, "only the list is asked for");
    here.bring(&format!("org/tiny@{COMMIT}")).unwrap();
    assert_eq!(here.server.paths().len(), before + 1, "a commit never changes");
}

#[test]
fn without_a_network_the_cache_serves_and_says_so() {
    let mut here = here(model(), Faults::default());
    here.bring("org/tiny").unwrap();
    // A port that nobody listens on.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    here.settings.endpoint = format!("http://{free}");
    let user_model = here.bring("org/tiny").unwrap();
    assert!(user_model.notes.iter().any(|note| note.contains("cannot be reached")), "{:?}", user_model.notes);
    let error = here.refused("org/other");
    assert!(error.contains("cannot be reached") && error.contains("HTTPS_PROXY"), "{error}");
}

#[test]
fn offline_nothing_is_asked_and_what_is_missing_is_told() {
    let mut here = here(model(), Faults::default());
    here.settings.offline = Some("HF_HUB_OFFLINE".into());
    let error = here.refused("org/tiny");
    assert!(error.contains("org/tiny is not in the cache") && error.contains("HF_HUB_OFFLINE"), "{error}");
    assert!(here.server.paths().is_empty());
    here.settings.offline = None;
    here.bring("org/tiny").unwrap();
    let asked = here.server.paths().len();
    here.settings.offline = Some("HF_HUB_OFFLINE".into());
    here.bring("org/tiny").unwrap();
    assert_eq!(here.server.paths().len(), asked);
}

#[test]
fn one_graph_of_several_can_be_named() {
    let here = here(model(), Faults::default());
    let user_model = here.bring("org/tiny:onnx/model_int8.onnx").unwrap();
    assert_eq!((user_model.id.as_str(), user_model.parts.len()), ("tiny-model_int8", 1));
    let error = here.refused("org/tiny:onnx/gone.onnx");
    assert!(
        error.contains("no file onnx/gone.onnx; its ONNX files are: onnx/model.onnx, onnx/model_int8.onnx"),
        "{error}"
    );
}

#[test]
fn a_model_that_is_not_there_is_told() {
    let here = here(model(), Faults::default());
    let error = here.refused("org/other");
    assert!(error.contains("no model org/other") && error.contains("no token was sent"), "{error}");
}

#[test]
fn a_revision_that_is_not_there_is_told() {
    let here = here(model(), Faults { refused: Some((404, "RevisionNotFound")), ..Faults::default() });
    assert!(here.refused("org/tiny@v9").contains("no revision 'v9'"));
}

#[test]
fn a_gated_model_says_whether_a_token_was_sent_and_takes_the_right_one() {
    let mut here = here(model(), Faults { token: Some("hf_good"), ..Faults::default() });
    let error = here.refused("org/tiny");
    assert!(error.contains("refused (401): no token was sent") && error.contains("HF_TOKEN"), "{error}");
    here.settings.token = Some("hf_bad".into());
    assert!(here.refused("org/tiny").contains("refused (403): the token that was sent does not allow it"));
    here.settings.token = Some("hf_good".into());
    here.bring("org/tiny").unwrap();
}

#[test]
fn the_token_goes_to_the_endpoint_alone() {
    // The other address of the same machine stands for another host.
    let elsewhere = Server::start(model(), Faults::default());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let target = format!("{}/cdn/config.json", elsewhere.endpoint);
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head =
                format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
        }
    });
    let mut here = here(model(), Faults::default());
    (here.settings.endpoint, here.settings.token) = (endpoint.clone(), Some("hf_secret".into()));
    let client = Client::new(&here.settings);
    assert!(client.get(&format!("{endpoint}/x"), 0).unwrap().status().is_success());
    let log = elsewhere.log.lock().unwrap();
    assert!(log.requests.iter().all(|(_, _, authorization)| authorization.is_none()), "{:?}", log.requests);
}

#[test]
fn a_model_without_onnx_says_what_it_has_and_what_to_do() {
    let mut files = model();
    files.retain(|name, _| !name.contains("onnx"));
    let error = here(files, Faults::default()).refused("org/tiny");
    assert!(
        error.contains("README.md, config.json, pytorch_model.bin") && error.contains("optimum-cli export onnx"),
        "{error}"
    );
}

#[test]
fn several_graphs_that_are_no_set_are_named() {
    let graph = Sample::vision().bytes();
    let files = Files::from([("a.onnx".into(), graph.clone()), ("b.onnx".into(), graph)]);
    let error = here(files, Faults::default()).refused("org/tiny");
    assert!(error.contains("a.onnx, b.onnx; name one of them, as in org/tiny:a.onnx"), "{error}");
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let here = here(model(), Faults { status: Some((503, 2)), ..Faults::default() });
    here.bring("org/tiny").unwrap();
}

#[test]
fn a_server_that_stays_broken_is_told_with_its_status() {
    let here = here(model(), Faults { status: Some((502, 1000)), ..Faults::default() });
    let error = here.refused("org/tiny");
    assert!(error.contains("status 502, after 3 attempts"), "{error}");
}

#[test]
fn a_download_that_is_cut_off_goes_on_where_it_ended() {
    let here = here(model(), Faults { cut: Some((50, 9)), ..Faults::default() });
    here.bring("org/tiny").unwrap();
    let log = here.server.log.lock().unwrap();
    let ranges: Vec<&str> = log.requests.iter().filter_map(|(_, range, _)| range.as_deref()).collect();
    assert!(ranges.contains(&"bytes=50-") && ranges.contains(&"bytes=100-"), "{ranges:?}");
}

#[test]
fn a_server_that_begins_anew_each_time_is_given_up() {
    let faults = Faults { cut: Some((50, 1000)), no_pieces: true, ..Faults::default() };
    let error = here(model(), faults).refused("org/tiny");
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn a_download_that_stalls_is_taken_up_again() {
    let here = here(model(), Faults { stall: Some(Duration::from_secs(3)), ..Faults::default() });
    here.bring("org/tiny").unwrap();
    let log = here.server.log.lock().unwrap();
    assert!(log.requests.iter().any(|(_, range, _)| range.as_deref() == Some("bytes=100-")));
}

#[test]
fn what_an_earlier_process_left_half_is_finished() {
    let here = here(model(), Faults::default());
    let client = Client::new(&here.settings);
    let repository = Repository::list(&client, &id("org/tiny")).unwrap();
    let data = repository.file("onnx/model.onnx_data").unwrap();
    let blobs = here.folder().join("blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    let partial = blobs.join(format!("{}.incomplete", data.blob));
    std::fs::write(&partial, &model()["onnx/model.onnx_data"][..1000]).unwrap();
    here.bring("org/tiny").unwrap();
    let asked =
        |range: &str| here.server.log.lock().unwrap().requests.iter().any(|(_, r, _)| r.as_deref() == Some(range));
    assert!(asked("bytes=1000-"));
}

#[test]
fn what_an_earlier_process_left_of_something_else_is_fetched_anew() {
    let here = here(model(), Faults::default());
    let client = Client::new(&here.settings);
    let repository = Repository::list(&client, &id("org/tiny")).unwrap();
    let data = repository.file("onnx/model.onnx_data").unwrap();
    let blobs = here.folder().join("blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    std::fs::write(blobs.join(format!("{}.incomplete", data.blob)), [0xEE; 1000]).unwrap();
    here.bring("org/tiny").unwrap();
}

#[test]
fn content_that_is_not_what_was_announced_is_refused_and_not_kept() {
    let here = here(model(), Faults { wrong: true, ..Faults::default() });
    let error = here.refused("org/tiny");
    assert!(error.contains("sha256") && error.contains("onnx/model.onnx of org/tiny"), "{error}");
    assert_eq!(std::fs::read_dir(here.folder().join("blobs")).unwrap().count(), 0);
}

#[test]
fn a_mirror_that_tells_names_alone_serves_too() {
    let here = here(model(), Faults { bare: true, ..Faults::default() });
    here.bring("org/tiny").unwrap();
    here.bring("org/tiny").unwrap();
    assert_eq!(here.server.asked("resolve/0123456789abcdef0123456789abcdef01234567/onnx/model.onnx"), 1);
}

#[test]
fn two_who_want_the_same_model_at_once_fetch_it_once() {
    let here = here(model(), Faults::default());
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| here.bring("org/tiny").unwrap().id)).collect();
        assert!(all.into_iter().all(|one| one.join().unwrap() == "tiny"));
    });
    assert_eq!(here.server.asked("/cdn/onnx/model.onnx_data?signature=a%2Fb"), 1);
}

#[test]
fn a_proxy_is_asked_in_place_of_the_endpoint() {
    let mut here = here(model(), Faults::default());
    let proxy = here.server.endpoint.clone();
    here.settings.proxy = Some(
        ureq::Proxy::builder(ureq::ProxyProtocol::Http)
            .host("127.0.0.1")
            .port(proxy.rsplit(':').next().unwrap().parse().unwrap())
            .build()
            .unwrap(),
    );
    here.settings.endpoint = "http://hub.invalid".into();
    let tried = here.bring("org/tiny");
    assert!(!here.server.paths().is_empty(), "{tried:?}");
}

#[test]
fn an_answer_that_is_no_list_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut here = here(model(), Faults::default());
    here.settings.endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>");
        }
    });
    let error = here.refused("org/tiny");
    assert!(error.contains("not understood") && error.contains("HF_ENDPOINT"), "{error}");
}

#[test]
fn progress_is_told_up_to_the_whole() {
    let here = here(model(), Faults::default());
    let mut last = (String::new(), 0, None);
    let mut whole = vec![];
    let mut note = |progress: Progress<'_>| {
        last = (progress.file.to_string(), progress.done, progress.total);
        if progress.total == Some(progress.done) {
            whole.push(last.0.clone());
        }
    };
    bring(&id("org/tiny"), &here.settings, &mut note).unwrap();
    assert_eq!(whole, ["onnx/model.onnx", "onnx/model.onnx_data", "config.json"]);
}

#[test]
fn a_graph_too_large_for_a_protobuf_is_refused_before_it_is_fetched() {
    let here = here(model(), Faults::default());
    let client = Client::new(&here.settings);
    let repository = Repository::list(&client, &id("org/tiny")).unwrap();
    let large = repository.with_size("onnx/model.onnx", 3 << 30);
    let error = large.graphs(&id("org/tiny")).unwrap_err().to_string();
    assert!(error.contains("3221225472 bytes"), "{error}");
}
