//! Plugin packages for the machines of a fleet: offered by a submitter, installed by each agent that accepts them.

use super::{Contact, needs_submitter};
use crate::cli::{AcceptArg, Global};
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::agent::ChildHost;
use skillbench_fleet::courier::nats::NatsCourier;
use skillbench_fleet::files::{FileError, NamedFile, fetch, renew};
use skillbench_fleet::offer::{self, OfferError, OfferedPackage, SIGNATURE};
use skillbench_fleet::seal::Signer;
use skillbench_fleet::submit::{announced, present};
use skillbench_report::Table;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(500);
/// So long a package that cannot be fetched is asked for again.
const PATIENCE: Duration = Duration::from_secs(60);
/// What an agent announces of a package that it has.
const INSTALLED: &str = "installed";

/// Offers a package to machines, and waits for their answers.
pub fn offer(global: &Global, contact: &Contact, package: &Path, on: &[String], withdraw: bool, wait: u64) -> Done {
    needs_submitter(contact)?;
    let (offered, sources) = read(package)?;
    let (present, problems) = present(&contact.courier, &contact.trust).map_err(failed)?;
    problems.iter().for_each(|problem| output::warning(problem));
    let there: Vec<&str> = present.iter().map(|present| present.machine.name.as_str()).collect();
    if let Some(unknown) = on.iter().find(|name| !there.contains(&name.as_str())) {
        return Err(usage(format!("there is no agent '{unknown}': `host fleet agents` lists them")));
    }
    let machines: Vec<&str> = if on.is_empty() { there } else { on.iter().map(String::as_str).collect() };
    if machines.is_empty() {
        output::error("no agent is there");
        return Ok(Exit::Unavailable);
    }
    let signer = Signer::of(&contact.pass).map_err(failed)?;
    if withdraw {
        for machine in &machines {
            offer::withdraw(&contact.courier, &contact.trust, &signer, machine, &offered).map_err(refused)?;
        }
        if !global.quiet {
            output::say("machines that have it keep it: `host plugin remove` takes it away there");
        }
        return Ok(Exit::Good);
    }
    for (file, path) in offered.files().zip(&sources) {
        renew(&contact.courier, path, file).map_err(failed)?;
    }
    for machine in &machines {
        offer::offer(&contact.courier, &contact.trust, &signer, machine, &offered).map_err(refused)?;
    }
    let answers = answers(global, contact, &machines, &offered.id, Duration::from_secs(wait))?;
    let mut table = Table::new(["machine", "package"]);
    for machine in &machines {
        let answer = answers.get(*machine).cloned();
        table.row([
            (*machine).into(),
            answer
                .unwrap_or_else(|| {
                    format!("nothing was heard for {wait} s: it may be measuring, or its host be too old")
                })
                .into(),
        ]);
    }
    output::table(&table, global.format.into());
    let is_everywhere = machines.iter().all(|machine| answers.get(*machine).is_some_and(|answer| answer == INSTALLED));
    Ok(if is_everywhere { Exit::Good } else { Exit::Broken })
}

fn refused(error: OfferError) -> CommandError {
    match error {
        OfferError::NoPackage(why) => usage(why),
        error => failed(error),
    }
}

/// A package, with its signature where one lies beside it.
fn read(package: &Path) -> Result<(OfferedPackage, Vec<PathBuf>), CommandError> {
    let name = package.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| usage(format!("{} is no file of a package", package.display())))?;
    let signature = package.with_file_name(format!("{name}{SIGNATURE}"));
    let of = |name: String, path: &Path| NamedFile::of(&name, path).map_err(usage);
    let is_signed = signature.is_file();
    let signed = is_signed.then(|| of(format!("{name}{SIGNATURE}"), &signature)).transpose()?;
    let offered = OfferedPackage::new(of(name.into(), package)?, signed).map_err(refused)?;
    let sources = std::iter::once(package.to_path_buf()).chain(is_signed.then_some(signature)).collect();
    Ok((offered, sources))
}

/// What machines say of a package, until all have or the time is over.
fn answers(
    global: &Global,
    contact: &Contact,
    machines: &[&str],
    id: &str,
    wait: Duration,
) -> Result<BTreeMap<String, String>, CommandError> {
    let (began, mut answers) = (Instant::now(), BTreeMap::new());
    while answers.len() < machines.len() && began.elapsed() < wait && !global.stop.asked() {
        std::thread::sleep(LOOK);
        for name in machines.iter().filter(|name| !answers.contains_key(**name)).collect::<Vec<_>>() {
            let machine = announced(&contact.courier, &contact.trust, name).map_err(failed)?;
            if let Some(answer) = machine.and_then(|machine| machine.offers.get(id).cloned()) {
                answers.insert((*name).to_string(), answer);
            }
        }
    }
    Ok(answers)
}

/// Installs an offered package on this machine, if its agent accepts it. Returns what is announced of it.
///
/// It is added by a host of its own, by the same rules as a user's: what it verifies is not written here a second time.
pub fn take(
    courier: &NatsCourier,
    offered: &OfferedPackage,
    accept: AcceptArg,
    spool: &Path,
    child: &ChildHost,
) -> String {
    if accept == AcceptArg::Installed {
        return "refused: its agent takes no plugins of others (`host fleet agent --accept signed` takes signed ones)"
            .into();
    }
    let folder = spool.join(".packages").join(&offered.package.sha256);
    let package = folder.join(&offered.package.name);
    for file in offered.files() {
        let began = Instant::now();
        loop {
            match fetch(courier, file, &folder.join(&file.name), &|| !child.stop.asked()) {
                Ok(()) => break,
                // It may be sent anew at this moment, or the server be away for a moment.
                Err(FileError::Courier(_) | FileError::NotThere { .. })
                    if began.elapsed() < PATIENCE && !child.stop.asked() =>
                {
                    std::thread::sleep(LOOK);
                }
                Err(error) => return format!("refused: {error}; offer it again"),
            }
        }
    }
    let mut add = Command::new(&child.program);
    add.args(&child.global).args(["plugin", "add"]).arg(&package).stdin(Stdio::null());
    if accept == AcceptArg::Any {
        add.arg("--unsigned");
    }
    match add.output() {
        Ok(done) if done.status.success() => INSTALLED.into(),
        Ok(done) => {
            let told = String::from_utf8_lossy(&done.stderr);
            let why = told.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it ended without a word");
            format!("refused: {}", why.trim_start_matches("error: ").chars().take(400).collect::<String>())
        }
        Err(error) => format!("refused: {error}"),
    }
}
