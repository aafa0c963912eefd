//! `host fleet agent`: this machine measures what submitters ask for.

use super::Contact;
use super::offer::take;
use crate::cli::{AgentArgs, Global, SandboxArg};
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use crate::screen::stop_on_ctrl_c;
use skillbench_engine::bench::Discovery;
use skillbench_engine::run::{Plugin, Probe};
use skillbench_fleet::agent::{Agent, AgentError, ChildHost, Spool, Until, Word, Worked, session};
use skillbench_fleet::form::{self, Announced, Machine};
use skillbench_fleet::keys::{Pass, Role};
use skillbench_fleet::names;
use skillbench_record::paths;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

pub fn agent(global: &Global, args: &AgentArgs) -> Done {
    stop_on_ctrl_c(&global.stop);
    let pass = Pass::read(&args.pass).map_err(usage)?;
    let labels = labels(&args.how.labels)?;
    let name = name(&pass, args.name.as_deref())?;
    let mut machine = machine(global, name.clone(), labels, &args.how.plugin)?;
    let spool = args.how.spool.clone().unwrap_or_else(|| paths::data().join("spool").join(&pass.fleet).join(&name));
    let open = || Spool::at(spool.clone()).map_err(|error| failed(format!("{}: {error}", spool.display())));
    open()?;
    let program = std::env::current_exe().map_err(failed)?;
    let child = ChildHost { program, global: arguments(global), stop: global.stop.clone() };
    let contact = Contact::waiting(pass, &global.stop)?;
    let until = Until { once: args.how.once, idle: args.how.idle_exit.map(Duration::from_secs) };
    let quiet = global.quiet;
    let mut tell = |word: Word<'_>| match word {
        Word::Warning(text) => output::warning(text),
        _ if quiet => {}
        Word::Ready => {
            output::say(&format!("{name} is ready, for the fleet '{}' at {}", contact.pass.fleet, contact.pass.address))
        }
        Word::Lot { submission, lot, cells, by } => {
            output::say(&format!("lot {lot} of {submission}, by {by}: {cells} cells"));
        }
        Word::Cell { name, outcome } => output::say(&format!("{name}: {outcome}")),
    };
    loop {
        let announced = machine.clone();
        let agent = Agent::new(&contact.courier, &contact.pass, announced, &child, open()?, global.stop.clone());
        match agent.map_err(failed)?.run(until, &mut tell) {
            Ok(Worked::Offered(packages)) => {
                let mut offers = std::mem::take(&mut machine.offers);
                for offered in packages {
                    let answer = take(&contact.courier, &offered, args.how.accept, &spool, &child);
                    if !quiet {
                        output::say(&format!("{}: {answer}", offered.package.name));
                    }
                    offers.insert(offered.id, answer);
                }
                // With what it has now.
                let labels = std::mem::take(&mut machine.labels);
                machine = self::machine(global, name.clone(), labels, &args.how.plugin)?;
                machine.offers = offers;
            }
            Ok(Worked::Done) if args.stopped_fails && global.stop.asked() => return Ok(Exit::Stopped),
            Ok(Worked::Done) => return Ok(Exit::Good),
            Err(error @ AgentError::Taken { .. }) => return Err(usage(error)),
            Err(error) => return Err(failed(error)),
        }
    }
}

/// What the machine is called: an agent's pass says it, a site's leaves it open.
fn name(pass: &Pass, named: Option<&str>) -> Result<String, CommandError> {
    match (pass.role, named) {
        (Role::Agent, Some(name)) if name != pass.name => {
            Err(usage(format!("the pass is that of {}: a machine of another name needs one of its own", pass.name)))
        }
        (Role::Agent, _) => Ok(pass.name.clone()),
        // Nodes are often called by more than one word of a subject: "node-3.example.org".
        (Role::Site, Some(name)) => names::of_host(name)
            .ok_or_else(|| usage(names::check(name).err().map_or_else(String::new, |bad| bad.to_string()))),
        (Role::Site, None) => {
            let hostname = skillbench_record::machine::hostname();
            let name = hostname.as_deref().and_then(names::of_host);
            name.ok_or_else(|| usage("the machine has no name that can be used: name it with --name"))
        }
        (role, _) => Err(usage(format!("a pass of the role {} does not measure", role.name()))),
    }
}

fn labels(texts: &[String]) -> Result<BTreeMap<String, String>, CommandError> {
    let label = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_string(), value.to_string())),
        _ => Err(usage(format!("expected KEY=VALUE, found '{text}'"))),
    };
    texts.iter().map(label).collect()
}

/// The machine, with each backend opened to see its devices.
fn machine(
    global: &Global,
    name: String,
    labels: BTreeMap<String, String>,
    only: &[String],
) -> Result<Machine, CommandError> {
    let inventory = global.inventory();
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    if let Some(unknown) = only.iter().find(|name| inventory.plugin(name).is_none()) {
        return Err(usage(inventory.why_not(unknown)));
    }
    let functions = Discovery::take(&inventory, &[]).benchmarks;
    let environment = skillbench_session::environment_of_all(&inventory, &functions);
    let announced = |plugin: &Plugin| {
        let is_taken = only.is_empty() || only.iter().any(|name| plugin.entry.is_called(name));
        let probed = is_taken.then(|| Probe::at(plugin, &global.stop).devices);
        let (devices, why_not) = match probed {
            None => (vec![], Some("its agent measures on other backends".to_string())),
            Some(Err(failure)) => (vec![], Some(failure.to_string())),
            Some(Ok(devices)) => (devices, None),
        };
        Announced {
            id: plugin.id.clone(),
            aliases: plugin.entry.aliases.clone(),
            description: plugin.description.clone(),
            devices,
            why_not,
        }
    };
    let backends = inventory.backends().map(|(plugin, _)| announced(plugin)).collect();
    Ok(Machine {
        schema: form::MACHINE.into(),
        name,
        session: session().map_err(failed)?,
        accepts: vec![form::JOB.into()],
        understands: form::UNDERSTOOD.map(String::from).to_vec(),
        environment,
        backends,
        functions,
        rejected: inventory.rejected.clone(),
        labels,
        offers: BTreeMap::new(),
        clock: None,
        must_understand: vec![],
    })
}

/// The global flags, for the hosts that measure.
pub fn arguments(global: &Global) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![];
    let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
    let absolute = |path: &std::path::PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    global.registry.iter().for_each(|file| add("--registry", absolute(file).into()));
    global.search.iter().for_each(|folder| add("--search-path", absolute(folder).into()));
    let sandbox = match global.sandbox {
        SandboxArg::Off => "off",
        SandboxArg::Default => "default",
        SandboxArg::Strict => "strict",
    };
    add("--sandbox", sandbox.into());
    if global.trust_folder {
        arguments.push("--trust-folder".into());
    }
    arguments
}
