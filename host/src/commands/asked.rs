//! A host that an agent of a fleet started: it asks before each cell, tells each that has ended, and ends with the agent.

use crate::output;
use skillbench_fleet::agent::{ASK, BEGIN, ENDED, GO};
use skillbench_fleet::server::die_with;
use skillbench_session::Event;
use skillbench_worker::Stop;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};

/// Whoever is asked, over this process's pipes.
pub struct Asker {
    answers: Receiver<()>,
    stop: Stop,
}

impl Asker {
    /// `None`: nobody is to be asked.
    ///
    /// # Errors
    /// The agent is gone already.
    pub fn of_environment(stop: &Stop) -> std::io::Result<Option<Asker>> {
        let Some(agent) = std::env::var(ASK).ok().and_then(|pid| pid.parse::<u32>().ok()) else { return Ok(None) };
        die_with(agent)?;
        let (send, answers) = channel();
        let asked = stop.clone();
        // It ends with this process, if the agent does not end it before.
        std::thread::Builder::new().name("answers".into()).spawn(move || {
            let go = |line: &Result<String, std::io::Error>| line.as_ref().is_ok_and(|line| line.trim() == GO);
            for _ in std::io::stdin().lock().lines().take_while(go) {
                if send.send(()).is_err() {
                    break;
                }
            }
            asked.ask();
        })?;
        Ok(Some(Asker { answers, stop: stop.clone() }))
    }

    pub fn on(&self, event: &Event<'_>) {
        match event {
            Event::CellBegun { index, .. } if !self.stop.asked() => {
                output::print(&format!("{BEGIN} {index}\n"));
                // The end of the answers has asked for the stop.
                let _ = self.answers.recv();
            }
            Event::CellEnded(cell) => output::print(&format!("{ENDED} {}\n", cell.index)),
            _ => {}
        }
    }
}
