//! `skillbench-check verify` and `keygen`: whether a report is the one that was signed, and about which library.

use crate::cli::VerifyArgs;
use crate::exit::{CheckError, Done, Exit};
use crate::output;
use serde_json::Value;
use skillbench_record::hash;
use skillbench_signatures::{PublicKey, Signature, beside};
use std::path::Path;

pub fn verify(args: &VerifyArgs) -> Done {
    hold_against_signature(&args.report, &args.key)?;
    let text = std::fs::read_to_string(&args.report).map_err(CheckError::of_file(&args.report))?;
    let unread =
        |error: serde_json::Error| CheckError::Failed(format!("{}: no report: {error}", args.report.display()));
    let report: Value = serde_json::from_str(&text).map_err(unread)?;
    if let Some(library) = &args.library {
        let (told, have) = (&report["library"]["sha256"], hash::sha256(library).map_err(CheckError::of_file(library))?);
        if told.as_str() != Some(&have) {
            let told = told.as_str().unwrap_or("none");
            let text = format!(
                "the report is about another library: it has the hash {told}, and {} {have}",
                library.display()
            );
            return Err(CheckError::Failed(text));
        }
    }
    let count = |of: &str| report[of].as_u64().unwrap_or(0);
    let library = &report["library"];
    let text = |of: &str| library[of].as_str().unwrap_or("unknown").to_string();
    output::print(&format!(
        "signed, as it is: {} ({} {}): {} rules kept, {} broken, {} not checked\n",
        text("file"),
        text("id"),
        text("plugin_version"),
        count("kept"),
        count("broken"),
        count("not_checked"),
    ));
    Ok(Exit::Good)
}

/// `key`: a public key's line, or the file that has it.
fn hold_against_signature(file: &Path, key: &str) -> Result<(), CheckError> {
    let text = match Path::new(key).is_file() {
        true => std::fs::read_to_string(key).map_err(CheckError::of_file(Path::new(key)))?,
        false => key.to_string(),
    };
    let (public, place) = (PublicKey::parse(&text)?, beside(file));
    let signature = std::fs::read_to_string(&place).map_err(CheckError::of_file(&place))?;
    let signature = Signature::parse(&signature, &place.display().to_string())?;
    let wrong = |text: String| CheckError::NotSigned(format!("{}: {text}", place.display()));
    signature.verify(&public, file).map_err(wrong)
}

pub fn keygen(keyfile: &Path) -> Done {
    let (public, key) = skillbench_signatures::keygen(keyfile)?;
    output::say(&format!(
        "{} signs, and is a secret; {} verifies, and is for everybody",
        keyfile.display(),
        public.display()
    ));
    output::print(&format!("{}\n", key.line()));
    Ok(Exit::Good)
}
