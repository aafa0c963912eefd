//! `skillbench-check LIBRARY`: the rules.

use crate::cli::{Format, RulesArgs};
use crate::exit::{CheckError, Done, Exit};
use crate::ladder;
use crate::subject::{Subject, other_backend};
use crate::table::table;
use crate::{document, junit, output};
use skillbench_record::suggest;
use skillbench_signatures::{PASSWORD, Signer};
use skillbench_worker::check::{Asked, Checked, RULES, Tally, Verdict};
use skillbench_worker::ladder::Tried;
use std::path::Path;
use std::time::Duration;

pub fn rules(args: &RulesArgs) -> Done {
    if args.list {
        list();
        return Ok(Exit::Good);
    }
    known(&args.rules)?;
    let missing = || CheckError::Usage("which library? skillbench-check LIBRARY".into());
    let subject = Subject::look(args.library.as_deref().ok_or_else(missing)?, &args.subject, args.limit)?;
    if let Err(failure) = &subject.description {
        output::warning(&format!("it cannot be described: {failure}"));
    }
    let backend = args.backend.as_deref().map(|path| other_backend(path, &subject.library)).transpose()?;
    let asked = Asked {
        backend: backend.as_ref(),
        rules: &args.rules,
        limit: Duration::from_secs(args.limit),
        ..Asked::all(&subject.library, subject.description.as_ref().ok(), &subject.options)
    };
    let failed = |error: std::io::Error| CheckError::Failed(format!("no folder for the check could be made: {error}"));
    let checked = asked.check(&mut |_| {}).map_err(failed)?;
    let tried = args.ladder.then(|| ladder::all(&subject.backend()?)).transpose()?;
    give(args, &subject, &checked, tried.as_ref())?;
    let tally = Tally::of(checked.iter().map(|one| &one.verdict));
    let (kept, broken, unchecked) = (tally.kept, tally.broken, tally.unchecked);
    output::say(&format!(
        "{}: {kept} rules kept, {broken} broken, {unchecked} not checked",
        subject.library.path.display()
    ));
    let of_rules = match (broken > 0 || subject.description.is_err(), unchecked > 0) {
        (true, _) => Exit::Broken,
        (false, true) => Exit::Unavailable,
        (false, false) => Exit::Good,
    };
    Ok(tried.map_or(of_rules, |tried| of_rules.or(ladder::exit(&tried))))
}

/// In the form that was asked for, and into files.
fn give(args: &RulesArgs, subject: &Subject, checked: &[Checked], tried: Option<&Tried>) -> Result<(), CheckError> {
    let name = subject.library.path.file_name().unwrap_or_default().to_string_lossy();
    let json = || {
        let document =
            document::of(subject, checked, tried.map(ladder::totals)).map_err(CheckError::of_file(&subject.library))?;
        Ok::<String, CheckError>(format!("{document:#}\n"))
    };
    match args.format {
        Format::Table => {
            output::print(&shown(checked));
            tried.iter().for_each(|tried| ladder::say(tried));
        }
        Format::Json => output::print(&json()?),
        Format::Junit => output::print(&junit::of(&name, checked)),
    }
    let write = |path: &Path, text: String| std::fs::write(path, text).map_err(CheckError::of_file(path));
    args.json.iter().try_for_each(|path| write(path, json()?))?;
    args.junit.iter().try_for_each(|path| write(path, junit::of(&name, checked)))?;
    if let Some(report) = &args.report {
        write(report, json()?)?;
        if let Some(key) = &args.sign {
            let name = report.file_name().unwrap_or_default().to_string_lossy();
            let signer = Signer::read(key, std::env::var(PASSWORD).ok())?;
            let signature = signer.sign(report, &format!("file:{name}\thashed"), "a report of skillbench-check")?;
            output::say(&format!("{} is signed by {}", report.display(), signature.display()));
        }
    }
    Ok(())
}

fn shown(checked: &[Checked]) -> String {
    let mut last = None;
    let mut rows = vec![];
    for one in checked.iter().filter(|one| one.verdict != Verdict::NotApplicable) {
        let how = one.verdict.how();
        // A backend that cannot run here says why once, not forty times.
        let what = match how {
            Some(_) if how == last => "the same".into(),
            Some(how) => skillbench_record::shown::line(how),
            None => one.rule.sentence.into(),
        };
        last = how;
        rows.push([one.rule.number.to_string(), one.rule.id.into(), one.verdict.name().into(), what]);
    }
    table(["rule", "id", "verdict", "what"], &rows)
}

fn list() {
    let rows: Vec<_> = RULES
        .iter()
        .map(|rule| [rule.number.to_string(), rule.id.into(), rule.applies.name().into(), rule.sentence.into()])
        .collect();
    output::print(&table(["rule", "id", "for", "a well-behaved plugin"], &rows));
}

/// Refuses a rule that is not there.
fn known(rules: &[String]) -> Result<(), CheckError> {
    let is_one =
        |asked: &&String| RULES.iter().any(|rule| rule.id == asked.as_str() || rule.number.to_string() == **asked);
    match rules.iter().find(|asked| !is_one(asked)) {
        Some(unknown) => {
            let nearest = suggest::did_you_mean(unknown, RULES.iter().map(|rule| rule.id));
            Err(CheckError::Usage(format!("there is no rule '{unknown}'{nearest}")))
        }
        None => Ok(()),
    }
}
