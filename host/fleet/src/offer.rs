//! Plugin packages that a submitter offers to machines. Each agent takes what its owner lets it take, and announces what became of it.

use crate::courier::{Courier, CourierError, Over, Table};
use crate::files::NamedFile;
use crate::form;
use crate::keys::Role;
use crate::names;
use crate::seal::{SealError, Signer, Trust, When};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_record::run_id;
use skillbench_record::time::since_epoch;

pub const OFFER: &str = "skillbench.offer/1";

/// How a package ends that `host plugin add` takes.
pub const ENDING: &str = ".skillbench.tar.gz";
/// How its signature's file ends, behind the name of the package.
pub const SIGNATURE: &str = ".minisig";

/// So many packages a machine is offered at most; the oldest make room.
const MOST: usize = 64;

/// What a machine is offered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    pub schema: String,
    pub machine: String,
    pub packages: Vec<OfferedPackage>,
    #[serde(default)]
    pub must_understand: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedPackage {
    /// Of this offer: a package that was refused can be offered again.
    pub id: String,
    pub package: NamedFile,
    #[serde(default)]
    pub signature: Option<NamedFile>,
}

impl OfferedPackage {
    /// An offer of its own of a package.
    ///
    /// # Errors
    /// Its name is none of a package; or there is no random number.
    pub fn new(package: NamedFile, signature: Option<NamedFile>) -> Result<OfferedPackage, OfferError> {
        let chance = getrandom::u32().map_err(|error| CourierError::Away(error.to_string()))?;
        let offered = OfferedPackage { id: run_id::of(since_epoch(), chance), package, signature };
        offered.check().map_err(OfferError::NoPackage)?;
        Ok(offered)
    }

    pub fn files(&self) -> impl Iterator<Item = &NamedFile> {
        std::iter::once(&self.package).chain(&self.signature)
    }

    fn check(&self) -> Result<(), String> {
        names::check(&self.id).map_err(|error| error.to_string())?;
        self.files().try_for_each(NamedFile::check)?;
        let NamedFile { name, .. } = &self.package;
        let is_plain = name.len() < 200 && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
        let is_signed = self.signature.as_ref().is_none_or(|file| file.name == format!("{name}{SIGNATURE}"));
        match is_plain && !name.starts_with(['.', '-']) && name.ends_with(ENDING) && is_signed {
            true => Ok(()),
            false => Err(format!("'{}' is no name of a plugin package", name.escape_debug())),
        }
    }
}

/// Offers a package to a machine, beside what it was offered before.
///
/// # Errors
/// The courier's; or the pass cannot sign.
pub fn offer(
    courier: &dyn Courier,
    trust: &Trust,
    signer: &Signer,
    machine: &str,
    package: &OfferedPackage,
) -> Result<(), OfferError> {
    change(courier, trust, signer, machine, |packages| {
        packages.retain(|known| known.package != package.package);
        packages.push(package.clone());
        packages.drain(..packages.len().saturating_sub(MOST));
    })
}

/// Takes an offer of a package back. A machine that has it keeps it.
///
/// # Errors
/// As for [`offer`].
pub fn withdraw(
    courier: &dyn Courier,
    trust: &Trust,
    signer: &Signer,
    machine: &str,
    package: &OfferedPackage,
) -> Result<(), OfferError> {
    change(courier, trust, signer, machine, |packages| packages.retain(|known| known.package != package.package))
}

/// Changes what a machine is offered, by compare-and-set.
fn change(
    courier: &dyn Courier,
    trust: &Trust,
    signer: &Signer,
    machine: &str,
    change: impl Fn(&mut Vec<OfferedPackage>),
) -> Result<(), OfferError> {
    loop {
        let entry = courier.read(Table::States, &names::offer(machine))?;
        let over = entry.as_ref().map_or(Over::Nothing, |entry| Over::Revision(entry.revision));
        let before = entry.and_then(|entry| read(trust, machine, &entry.body, entry.at_ms).ok());
        let mut packages = before.map(|offer| offer.packages).unwrap_or_default();
        change(&mut packages);
        let offer = Offer { schema: OFFER.into(), machine: machine.into(), packages, must_understand: vec![] };
        if courier.write(Table::States, &names::offer(machine), &signer.seal(&offer)?, over)?.is_some() {
            return Ok(());
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    #[error("{0}")]
    NoPackage(String),
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// What a machine is offered; `Err`: why that is not believed.
///
/// # Errors
/// The courier's.
pub fn offered(
    courier: &dyn Courier,
    trust: &Trust,
    machine: &str,
) -> Result<Result<Vec<OfferedPackage>, String>, CourierError> {
    let Some(entry) = courier.read(Table::States, &names::offer(machine))? else { return Ok(Ok(vec![])) };
    Ok(read(trust, machine, &entry.body, entry.at_ms).map(|offer| offer.packages))
}

fn read(trust: &Trust, machine: &str, body: &[u8], at_ms: i64) -> Result<Offer, String> {
    let opened = trust.open(body, &[Role::Submitter], When::At(at_ms / 1000)).map_err(|error| error.to_string())?;
    let offer: Offer = form::read(OFFER, &opened.body).map_err(|error| error.to_string())?;
    if offer.machine != machine {
        return Err("it was signed for another machine".into());
    }
    offer.packages.iter().try_for_each(OfferedPackage::check)?;
    Ok(offer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::courier::memory::MemoryCourier;
    use crate::keys::Folder;

    fn package(name: &str) -> OfferedPackage {
        OfferedPackage {
            id: "1".into(),
            package: NamedFile { name: name.into(), sha256: "0a".repeat(32), bytes: 1 },
            signature: None,
        }
    }

    #[test]
    fn a_machine_hears_what_a_submitter_offers_it_and_nothing_else() {
        let here = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(here.path(), "lab", "127.0.0.1").unwrap();
        let (me, agent) =
            (lab.issue("me", Role::Submitter, None).unwrap(), lab.issue("h1", Role::Agent, None).unwrap());
        let (trust, signer) = (Trust::of(&me), Signer::of(&me).unwrap());
        let courier = MemoryCourier::default();
        let heard = |machine: &str| {
            let offered = offered(&courier, &trust, machine).unwrap()?;
            Ok::<_, String>(offered.into_iter().map(|offered| offered.package.name).collect::<Vec<_>>())
        };
        for id in ["1", "2"] {
            for name in ["a-1.skillbench.tar.gz", "b-1.skillbench.tar.gz"] {
                let again = OfferedPackage { id: id.into(), ..package(name) };
                offer(&courier, &trust, &signer, "h1", &again).unwrap();
            }
        }
        assert_eq!(heard("h1").unwrap(), ["a-1.skillbench.tar.gz", "b-1.skillbench.tar.gz"]);
        withdraw(&courier, &trust, &signer, "h1", &package("a-1.skillbench.tar.gz")).unwrap();
        assert_eq!(heard("h1").unwrap(), ["b-1.skillbench.tar.gz"]);
        assert_eq!(heard("h2").unwrap(), [""; 0]);
        for bad in ["x", "../a.skillbench.tar.gz", "-a.skillbench.tar.gz", "a b.skillbench.tar.gz"] {
            assert!(OfferedPackage::new(package(bad).package, None).is_err(), "{bad}");
        }
        // That of another machine, and one that an agent signed.
        let of_h1 = courier.read(Table::States, &names::offer("h1")).unwrap().unwrap().body;
        courier.write(Table::States, &names::offer("h2"), &of_h1, Over::Anything).unwrap();
        assert!(heard("h2").unwrap_err().contains("another machine"));
        offer(&courier, &Trust::of(&agent), &Signer::of(&agent).unwrap(), "h3", &package("a-1.skillbench.tar.gz"))
            .unwrap();
        assert!(heard("h3").unwrap_err().contains("may not say that"));
    }
}
