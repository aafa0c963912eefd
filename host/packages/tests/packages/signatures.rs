//! Whom a user trusts.

use crate::world::{World, text};
use skillbench_packages::pack::{self, Packing};
use skillbench_packages::{MANIFEST, Receipt, TrustedKeys, file_name};
use skillbench_signatures::{PASSWORD, PublicKey, Signer};
use std::process::Command;

#[test]
fn a_package_that_is_signed_by_a_trusted_key_is_installed_and_the_receipt_says_whose_it_was() {
    let world = World::new();
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme Corp.");
    let packed = world.packed("1.0.0", "", Some(&secret));
    assert_eq!(packed.manifest.key, Some(public.line()));
    let installed = world.add(text(&packed.file)).unwrap();
    let receipt = Receipt::of_library(&world.home, &installed.folder.join("libacme.so")).unwrap();
    let by = receipt.signed_by.clone().unwrap();
    assert_eq!((by.name.as_str(), by.key, by.id), ("Acme Corp.", public.line(), public.id()));
    assert!(by.comment.contains("file:acme-1.0.0.skillbench.tar.gz") && by.comment.contains("plugin:acme 1.0.0"));
    assert_eq!(receipt.signer(), format!("Acme Corp. ({})", public.id()));
}

#[test]
fn an_unsigned_package_needs_that_somebody_asks_for_it() {
    let mut world = World::new();
    let packed = world.packed("1.0.0", "", None);
    let told = world.refused(text(&packed.file));
    assert!(told.contains("is not signed") && told.contains("--unsigned"), "{told}");
    world.wishes.unsigned = true;
    world.add(text(&packed.file)).unwrap();
}

#[test]
fn a_signature_by_another_key_is_refused_also_where_unsigned_packages_are_taken() {
    let world = World::unsigned();
    let ((secret, public), (_, other)) = (world.key("acme"), world.key("other"));
    world.trust(&other, "Somebody else");
    let packed = world.packed("1.0.0", "", Some(&secret));
    let told = world.refused(text(&packed.file));
    for part in [&public.id(), "is not trusted here", &format!("host plugin trust {} --name \"Acme\"", public.line())] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // What that sentence says to do helps.
    world.trust(&public, "Acme");
    world.add(text(&packed.file)).unwrap();
}

#[test]
fn a_vendors_name_that_a_shell_would_obey_stands_in_no_command() {
    let world = World::new();
    let (secret, public) = world.key("acme");
    let folder = world.vendor("1.0.0", "");
    let manifest = std::fs::read_to_string(folder.join(MANIFEST)).unwrap();
    let evil = manifest.replace("vendor = \"Acme\"", "vendor = '$(touch evil)'");
    std::fs::write(folder.join(MANIFEST), evil).unwrap();
    let signer = Some(Signer::read(&secret, None).unwrap());
    let packed = pack::folder(&folder, &Packing { into: world.path().join("dist"), signer, checked: None }).unwrap();
    let told = world.refused(text(&packed.file));
    assert!(told.contains(&format!("host plugin trust {} --name \"acme\"`", public.line())), "{told}");
}

#[test]
fn a_key_that_names_itself_in_a_manifest_and_did_not_sign_is_not_offered() {
    let world = World::new();
    let ((secret, public), (forger, _)) = (world.key("acme"), world.key("forger"));
    let packed = world.packed("1.0.0", "", Some(&secret));
    // The forger keeps the manifest, which names the vendor's key, and signs with another.
    Signer::read(&forger, None).unwrap().sign(&packed.file, "timestamp:1", "a package").unwrap();
    let told = world.refused(text(&packed.file));
    assert!(told.contains("nothing says whose it is") && !told.contains(&public.line()), "{told}");
}

#[test]
fn bytes_that_changed_after_they_were_signed_are_refused() {
    let world = World::unsigned();
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme");
    let packed = world.packed("1.0.0", "", Some(&secret));
    let signature = packed.signature.unwrap();
    let later = world.packed("1.0.1", "", None);
    std::fs::copy(&signature, format!("{}.minisig", text(&later.file))).unwrap();
    let told = world.refused(text(&later.file));
    assert!(told.contains("the signature of acme 1.0.1 by Acme") && told.contains("does not fit"), "{told}");
}

#[test]
fn a_file_that_is_no_signature_is_told_as_that_and_never_a_panic() {
    let world = World::unsigned();
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme");
    let packed = world.packed("1.0.0", "", Some(&secret));
    let signature = packed.signature.unwrap();
    let whole = std::fs::read_to_string(&signature).unwrap();
    for length in 0..whole.len() - 1 {
        std::fs::write(&signature, &whole[..length]).unwrap();
        let told = world.stage(text(&packed.file)).err().map(|error| error.to_string());
        assert!(
            told.as_ref().is_some_and(|told| told.contains("is no signature as minisign writes it")),
            "{length}: {told:?}"
        );
    }
    std::fs::write(&signature, whole.replace("plugin:acme", "plugin:evil")).unwrap();
    assert!(world.refused(text(&packed.file)).contains("does not fit"));
}

#[test]
fn what_is_signed_here_is_verified_by_another_program_of_the_same_form() {
    let world = World::new();
    let (secret, public) = world.key("acme");
    let packed = world.packed("1.0.0", "", Some(&secret));
    let key = minisign_verify::PublicKey::from_base64(&public.line()).unwrap();
    let signature = minisign_verify::Signature::from_file(packed.signature.unwrap()).unwrap();
    key.verify(&std::fs::read(&packed.file).unwrap(), &signature, false).unwrap();
    // And by the program of that name, where it is installed.
    match Command::new("minisign").args(["-V", "-P", &public.line(), "-m"]).arg(&packed.file).output() {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && told.contains("plugin:acme 1.0.0"), "{told}");
        }
        Err(_) => eprintln!("there is no program minisign here: its own verification was not tried"),
    }
}

#[test]
fn what_minisigns_own_program_signed_is_taken() {
    let world = World::new();
    let (secret, public) = (world.path().join("m.key"), world.path().join("m.pub"));
    let made = Command::new("minisign").args(["-G", "-W", "-s"]).arg(&secret).arg("-p").arg(&public).output();
    if made.is_err() {
        eprintln!("there is no program minisign here: its signatures were not tried");
        return;
    }
    let packed = world.packed("1.0.0", "", None);
    let signed =
        Command::new("minisign").arg("-S").arg("-s").arg(&secret).arg("-m").arg(&packed.file).output().unwrap();
    assert!(signed.status.success(), "{}", String::from_utf8_lossy(&signed.stderr));
    world.trust(&PublicKey::parse(&std::fs::read_to_string(&public).unwrap()).unwrap(), "Acme");
    world.add(text(&packed.file)).unwrap();
    // Its bare key signs here, too.
    world.packed("1.0.1", "", Some(&secret));
    world.add(text(&world.path().join("dist").join(file_name("acme", "1.0.1")))).unwrap();
}

#[test]
fn an_encrypted_key_needs_its_password_and_nobody_is_asked_for_it() {
    let world = World::new();
    let pair = minisign::KeyPair::generate_encrypted_keypair(Some("pass".into())).unwrap();
    let file = world.write("locked.key", pair.sk.to_box(None).unwrap().into_string());
    let told = Signer::read(&file, None).err().unwrap().to_string();
    assert!(told.contains(PASSWORD), "{told}");
    let told = Signer::read(&file, Some("other".into())).err().unwrap().to_string();
    assert!(told.contains("Wrong password"), "{told}");
    let signer = Signer::read(&file, Some("pass".into())).unwrap();
    assert_eq!(signer.public().line(), pair.pk.to_base64());
    let told = Signer::read(&world.write("none.key", "hello\nyou\n"), None).err().unwrap().to_string();
    assert!(told.contains("is no secret key of minisign"), "{told}");
}

#[test]
fn keys_are_trusted_by_name_and_distrusted_by_name_number_or_key() {
    let world = World::new();
    let ((_, a), (_, b), (_, c)) = (world.key("a"), world.key("b"), world.key("c"));
    let mut keys = TrustedKeys::load(&world.home).unwrap();
    for (key, name) in [(&a, "A"), (&b, "B"), (&c, "C")] {
        assert!(!keys.trust(key, name).unwrap());
    }
    assert!(keys.trust(&a, "A & Co.").unwrap(), "it is known already, and has a new name");
    let mut keys = TrustedKeys::load(&world.home).unwrap();
    assert_eq!(keys.keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["A & Co.", "B", "C"]);
    assert!(keys.keys.iter().all(|key| key.since.ends_with('Z')));
    for which in ["A & Co.", &b.id().to_lowercase(), &c.line()] {
        assert_eq!(keys.distrust(which).unwrap().len(), 1, "{which}");
    }
    assert!(TrustedKeys::load(&world.home).unwrap().keys.is_empty());
    assert!(keys.distrust("nobody").unwrap().is_empty());
}

#[test]
fn a_file_of_keys_that_cannot_be_read_trusts_nobody() {
    let world = World::new();
    let (secret, public) = world.key("acme");
    let packed = world.packed("1.0.0", "", Some(&secret));
    for bad in ["version = 2\n", "nonsense", "version = 1\n[[key]]\nkey = \"RWnonsense\"\n"] {
        world.write("config/trusted-keys.toml", format!("{bad}[[key]]\nkey = \"{}\"\n", public.line()));
        let told = world.refused(text(&packed.file));
        assert!(told.contains("trusted-keys.toml"), "{told}");
    }
}
