//! The server of a fleet: a program of others, started here, watched, and ended with this process.

use super::keys::refused;
use crate::cli::Global;
use crate::commands::{CommandError, Done, Exit, failed};
use crate::output;
use crate::screen::stop_on_ctrl_c;
use skillbench_engine::registry::Registry;
use skillbench_fleet::CourierError;
use skillbench_fleet::courier::nats::NatsCourier;
use skillbench_fleet::keys::Folder;
use skillbench_fleet::server::{self, Server};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// So long a server may take to answer after it was started: it reads what it has stored.
const START: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);
/// A server that ends sooner after its start than this is not started again.
const SOON: Duration = Duration::from_secs(10);

pub fn serve(global: &Global, dir: &Path, named: Option<&Path>) -> Done {
    stop_on_ctrl_c(&global.stop);
    let mut folder = Folder::open(dir).map_err(refused)?;
    // What roles may do is this host's to say, also in a folder that an earlier one made.
    folder.update().map_err(refused)?;
    let registry = Registry::load(&global.sources());
    let program = server::program(named, &registry).map_err(failed)?;
    let configuration = server::configure(&folder).map_err(failed)?;
    let mut is_first = true;
    while !global.stop.asked() {
        let began = Instant::now();
        let mut server = start(&folder, &program, &configuration)?;
        let Some(version) = ready(global, &mut folder, &mut server)? else { break };
        if !global.quiet {
            let address = folder.address();
            output::say(&match is_first {
                true => format!(
                    "NATS {version} serves the fleet '{}' at {address} (process {})",
                    folder.fleet(),
                    server.pid()
                ),
                false => format!("the server is there again (process {})", server.pid()),
            });
        }
        is_first = false;
        while !global.stop.asked() {
            std::thread::sleep(LOOK);
            if let Err(error) = server.check() {
                if began.elapsed() < SOON {
                    return Err(failed(error));
                }
                output::warning(&format!("{error}; it is started again"));
                break;
            }
        }
    }
    Ok(Exit::Good)
}

fn start(folder: &Folder, program: &Path, configuration: &Path) -> Result<Server, CommandError> {
    let own = std::env::current_exe().map_err(failed)?;
    let parent = std::process::id().to_string();
    let arguments: [OsString; 5] =
        ["fleet".into(), "become".into(), program.into(), configuration.into(), parent.into()];
    Server::start(folder, &own, arguments.to_vec()).map_err(failed)
}

/// Waits until a server answers, and makes what the fleet needs on it. `None`: the user stopped it.
fn ready(global: &Global, folder: &mut Folder, server: &mut Server) -> Result<Option<String>, CommandError> {
    let pass = folder.keeper().map_err(refused)?;
    let began = Instant::now();
    loop {
        server.check().map_err(failed)?;
        if global.stop.asked() {
            return Ok(None);
        }
        let asked = NatsCourier::connect(&pass).and_then(|courier| courier.set_up().map(|()| courier.server_version()));
        match asked {
            Ok(version) => return Ok(Some(version)),
            Err(CourierError::Refused(why)) => return Err(failed(why)),
            Err(error) if began.elapsed() > START => return Err(failed(error)),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// This process becomes the server, and ends with the one that started it.
pub fn become_server(program: &Path, configuration: &Path, parent: u32) -> Done {
    server::die_with(parent).map_err(failed)?;
    #[cfg(unix)]
    return Err(failed(format!("{}: {}", program.display(), server::become_server(program, configuration))));
    #[cfg(not(unix))]
    return match std::process::Command::new(program).arg("-c").arg(configuration).status() {
        Ok(status) if status.success() => Ok(Exit::Good),
        Ok(status) => Err(failed(format!("{}: {status}", program.display()))),
        Err(error) => Err(failed(format!("{}: {error}", program.display()))),
    };
}
