//! `host matrix`: what runs where; and the files of it, which lie beside the database.

use super::persist::Persist;
use super::stored::refused;
use super::{Done, Exit, db, failed, usage};
use crate::cli::{FormatArg, Global, MatrixArgs};
use crate::output;
use skillbench_report::{Format, Table, sections};
use skillbench_results::matrix::{self, Matrix};
use skillbench_session::keep::{matrix_of, update_matrix};
use skillbench_session::which::Named;
use skillbench_store::database::Filter;
use skillbench_store::journal;
use std::path::{Path, PathBuf};

pub fn matrix(global: &Global, args: &MatrixArgs) -> Done {
    let whole = match &args.file {
        Some(file) => read(file)?,
        None => {
            let place = args.stored.place(global);
            matrix_of(place.filled().map_err(refused)?, &Filter::all()).map_err(failed)?
        }
    };
    let hardware: Vec<String> =
        args.hardware.iter().map(|name| matrix::rule().hardware_name(name).to_string()).collect();
    known("hardware", &hardware, whole.hardware.clone())?;
    known("model", &args.model, whole.models().map(|model| model.id.clone()).collect())?;
    let shown = whole.only(&hardware, &args.model);
    let text = render(&shown, form(global, args.output.as_deref()), args.output.as_deref()).map_err(failed)?;
    match &args.output {
        None => output::print(&text),
        Some(file) => output::to_file(file, text.as_bytes()).map_err(failed)?,
    }
    Ok(Exit::Good)
}

fn known(what: &str, asked: &[String], known: Vec<String>) -> Result<(), super::CommandError> {
    match asked.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) if known.is_empty() => Err(usage(format!("no {what} '{name}': there is none in it"))),
        Some(name) => Err(usage(format!("no {what} '{name}' is in it; there are: {}", known.join(", ")))),
    }
}

fn read(file: &Path) -> Result<Matrix, super::CommandError> {
    let told = |text: String| usage(format!("{}: {text}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| told(error.to_string()))?;
    let value = serde_json::from_str(&text).map_err(|error| told(format!("it is no JSON: {error}")))?;
    matrix::read(&value).map_err(|error| told(error.to_string()))
}

/// The form that was asked for, or the one that a file's name tells.
fn form(global: &Global, file: Option<&Path>) -> Format {
    let extension = file.and_then(Path::extension).and_then(|extension| extension.to_str());
    match (global.format, extension) {
        (FormatArg::Table, Some("json")) => Format::Json,
        (FormatArg::Table, Some("md")) => Format::Markdown,
        (FormatArg::Table, Some("csv")) => Format::Csv,
        (FormatArg::Table, Some("html")) => Format::Html,
        (format, _) => format.into(),
    }
}

fn render(matrix: &Matrix, format: Format, file: Option<&Path>) -> Result<String, String> {
    let table = |long| {
        let (columns, rows) = matrix::table(matrix, long);
        output::drawn(&Table::from_values(columns, rows), format, file)
    };
    Ok(match format {
        Format::Json => format!("{:#}\n", matrix::json(matrix)),
        Format::Markdown => matrix::markdown(matrix),
        Format::Csv => table(true),
        Format::Table => table(false),
        Format::Html => sections::matrix(matrix).html().map_err(|error| error.to_string())?,
    })
}

/// `host run --update-matrix-only [FOLDER]`. The runs of a folder that is named are put into the database first: the one that is named
/// too, else the one next to them.
pub fn update_only(global: &Global, persist: &Persist, folder: Option<&Path>) -> Done {
    let mut place = persist.place(global);
    if let Some(folder) = folder {
        if matches!(place.named, Named::Nothing | Named::Environment) {
            place.database = db::at(global, db::of_environment().as_deref(), &folder_of_runs(folder));
        }
        db::import_into(&place.database, &[folder.to_path_buf()])?;
    }
    for file in update_matrix(place.filled().map_err(refused)?).map_err(failed)? {
        output::say(&format!("written: {}", file.display()));
    }
    Ok(Exit::Good)
}

/// The folder of runs that a folder is, or that a run's own folder lies in.
fn folder_of_runs(folder: &Path) -> PathBuf {
    let is_run = [journal::NAME, "run.json"].iter().any(|name| folder.join(name).is_file());
    let parent = || folder.canonicalize().ok()?.parent().map(Path::to_path_buf);
    if is_run { parent().unwrap_or_default() } else { folder.to_path_buf() }
}
