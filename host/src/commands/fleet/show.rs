//! What is there in a fleet, and how far it is.

use super::{Contact, not_submitted};
use crate::cli::{Global, RESULTS};
use crate::commands::devices::SHORT;
use crate::commands::{Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::agent;
use skillbench_fleet::form::Doing;
use skillbench_fleet::place::{Present, usable};
use skillbench_fleet::plan::other_model;
use skillbench_fleet::status::{self, Status};
use skillbench_fleet::submit::{self, present};
use skillbench_fleet::verify;
use skillbench_models::SkillDescription;
use skillbench_record::BackendChoice;
use skillbench_report::page::Tone;
use skillbench_report::{Cell, Table};
use std::path::Path;

pub fn agents(global: &Global, contact: &Contact) -> Done {
    let (machines, problems) = present(&contact.courier, &contact.trust).map_err(failed)?;
    let mut table =
        Table::new(["machine", "doing", "usable backends", "system", "host", "server ahead by (ms)", "labels"]);
    for present in &machines {
        let machine = &present.machine;
        let has_device =
            |backend: &&skillbench_fleet::form::Announced| backend.devices.iter().any(|device| device.usable);
        let backends: Vec<&str> =
            machine.backends.iter().filter(has_device).map(|backend| backend.id.as_str()).collect();
        let labels: Vec<String> = machine.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let environment = &machine.environment;
        table.row([
            Cell::text(&machine.name),
            doing(&present.doing).into(),
            backends.join(", ").into(),
            environment.machine_label().into(),
            Cell::text(&environment.host_version),
            Cell::maybe(machine.clock, |clock| Cell::from(format!("{} ± {}", clock.offset_ms, clock.bound_ms))),
            labels.join(", ").into(),
        ]);
    }
    output::table(&table, global.format.into());
    problems.iter().for_each(|problem| output::warning(problem));
    Ok(if machines.is_empty() { Exit::Unavailable } else { Exit::Good })
}

fn doing(doing: &Doing) -> String {
    match doing {
        Doing::Idle => "idle".into(),
        Doing::Measuring { place, of, cell, .. } => format!("{place}/{of} {cell}"),
    }
}

pub fn devices(global: &Global, contact: &Contact) -> Done {
    let (machines, problems) = present(&contact.courier, &contact.trust).map_err(failed)?;
    let mut table = Table::new(["machine", "plugin", "device", "status", "name"]);
    for present in &machines {
        let machine = &present.machine;
        for backend in &machine.backends {
            for device in &backend.devices {
                let mut status = crate::commands::devices::status(device);
                if !global.verbose {
                    status.shorten(SHORT);
                }
                let [name, id] = [&machine.name, &backend.id].map(Cell::text);
                table.row([name, id, Cell::text(&device.id), status, Cell::text(&device.name)]);
            }
            if let Some(why) = &backend.why_not {
                let status = Cell::from(format!("unavailable: {why}")).tone(Tone::Info);
                table.row([Cell::text(&machine.name), Cell::text(&backend.id), Cell::none(), status, Cell::none()]);
            }
        }
    }
    output::table(&table, global.format.into());
    problems.iter().for_each(|problem| output::warning(problem));
    Ok(Exit::Good)
}

/// What each machine says of a backend, and of a model.
pub fn why(global: &Global, contact: &Contact, backend: &str, model: Option<&str>) -> Done {
    let choice = BackendChoice::parse(backend);
    let model = model.map(|model| global.inventory().catalog().find(model)).transpose().map_err(usage)?;
    let (machines, problems) = present(&contact.courier, &contact.trust).map_err(failed)?;
    let (mut table, mut can_any) = (Table::new(["machine", "can use it", "device", "why not"]), false);
    for Present { machine, .. } in &machines {
        let found = usable(machine, &choice);
        let lacks = model.as_ref().and_then(|model| {
            let SkillDescription { id, content, .. } = &model.description;
            other_model(machine, id, content).map(|reason| reason.message)
        });
        let name = found.as_ref().map_or_else(|_| Cell::none(), |(_, device)| Cell::text(&device.name));
        let why = lacks.or(found.err());
        can_any |= why.is_none();
        let can = if why.is_none() { "yes" } else { "no" };
        table.row([Cell::text(&machine.name), can.into(), name, why.map_or_else(Cell::none, Cell::from)]);
    }
    output::table(&table, global.format.into());
    problems.iter().for_each(|problem| output::warning(problem));
    Ok(if can_any { Exit::Good } else { Exit::Unavailable })
}

pub fn status(global: &Global, contact: &Contact, id: Option<&str>) -> Done {
    let is_of_all = id.is_none();
    let ids = match id {
        Some(id) => vec![id.to_string()],
        None => status::submissions(&contact.courier).map_err(failed)?,
    };
    let mut table =
        Table::new(["submission", "by", "state", "priority", "machine", "cells ended", "cells", "lots ended", "lots"]);
    for id in ids {
        match status::status(&contact.courier, &contact.trust, &id) {
            Ok(status) => rows(&mut table, &status),
            // One that cannot be read hides no other.
            Err(error) if is_of_all => output::warning(&error.to_string()),
            Err(error) => return Err(not_submitted(error)),
        }
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

fn rows(table: &mut Table, status: &Status) {
    for (machine, share) in &status.machines {
        let number = |count: usize| Cell::count(count as u64);
        let state = match status.moved.get(machine) {
            Some(to) => Cell::text(format!("moved to {to}")),
            None => status.state().into(),
        };
        table.row([
            Cell::text(&status.id),
            Cell::text(&status.by),
            state,
            Cell::text(status.priority.to_string()),
            Cell::text(machine),
            number(share.ended),
            number(share.cells),
            number(share.lots_ended),
            number(share.lots),
        ]);
    }
}

pub fn cancel(global: &Global, contact: &Contact, id: &str) -> Done {
    let submission = submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    let taken = submit::cancel(&contact.courier, id).map_err(not_submitted)?;
    for (machine, moved) in submit::moved(&contact.courier, &submission).map_err(failed)? {
        output::warning(&format!(
            "what {machine} left undone is measured elsewhere: `host fleet cancel {moved}` takes that back"
        ));
    }
    if !global.quiet {
        output::say(&format!("{id} is taken back: {taken} lots had not ended; what is measured stays"));
    }
    Ok(Exit::Good)
}

pub fn verify(global: &Global, contact: &Contact, id: &str, results: Option<&Path>) -> Done {
    let results = results.unwrap_or(Path::new(RESULTS));
    let verified = verify::verify(&contact.courier, &contact.trust, id, results).map_err(usage)?;
    for (what, cells) in [("lost", &verified.lost), ("twice", &verified.twice), ("not as signed", &verified.other)] {
        cells.iter().for_each(|cell| output::error(&format!("{what}: {cell}")));
    }
    if !global.quiet || !verified.is_clean() {
        let (cells, lost, twice, other) =
            (verified.cells, verified.lost.len(), verified.twice.len(), verified.other.len());
        output::print(&format!("{cells} cells: {lost} lost, {twice} twice, {other} not as signed\n"));
    }
    Ok(if verified.is_clean() { Exit::Good } else { Exit::Broken })
}

pub fn drain(global: &Global, contact: &Contact, machine: &str) -> Done {
    match agent::drain(&contact.courier, machine).map_err(failed)? {
        false => Err(usage(format!("no agent called {machine} is there"))),
        true => {
            if !global.quiet {
                output::say(&format!("the agent of {machine} ends after what it measures now"));
            }
            Ok(Exit::Good)
        }
    }
}
