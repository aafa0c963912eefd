//! A user's folders, a vendor's plugin and a vendor's key.

use skillbench_packages::pack::{self, Packed, Packing};
use skillbench_packages::{
    Contract, Here, Home, Installed, Limits, MANIFEST, PackageError, Source, Staged, TrustedKeys, Wishes, stage,
};
use skillbench_signatures::{PublicKey, Signer};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub struct World {
    folder: tempfile::TempDir,
    pub home: Home,
    pub wishes: Wishes,
}

impl World {
    pub fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let home = Home { data: folder.path().join("data"), config: folder.path().join("config") };
        let contract = Contract { major: 1, minor: 1 };
        let wishes =
            Wishes { unsigned: false, indexes: vec![], here: Here::with(None), contract, limits: Limits::default() };
        World { folder, home, wishes }
    }

    /// Packages that nobody signed are taken.
    pub fn unsigned() -> World {
        let mut world = World::new();
        world.wishes.unsigned = true;
        world
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, bytes).unwrap();
        file
    }

    /// A vendor's folder with a manifest, a library for this machine and a licence.
    pub fn vendor(&self, version: &str, more: &str) -> PathBuf {
        let name = format!("acme-{version}");
        self.write(&format!("{name}/LICENSE"), "do as you like\n");
        self.write(&format!("{name}/libacme.so"), std::fs::read(library()).unwrap());
        let platform = Here::with(None).platform;
        let text = format!(
            "manifest = 1\nid = \"acme\"\nversion = \"{version}\"\nvendor = \"Acme\"\ncontract = \"1.1\"\nkinds = [\"skillset\"]\n{more}\n\
             [[library]]\nplatform = \"{platform}\"\nfile = \"libacme.so\"\n[[file]]\npath = \"LICENSE\"\n"
        );
        self.write(&format!("{name}/{MANIFEST}"), text);
        self.path().join(name)
    }

    /// The vendor's folder as a package, signed where there is a key.
    pub fn packed(&self, version: &str, more: &str, key: Option<&Path>) -> Packed {
        let signer = key.map(|key| Signer::read(key, None).unwrap());
        let packing = Packing { into: self.path().join("dist"), signer, checked: None };
        pack::folder(&self.vendor(version, more), &packing).unwrap()
    }

    /// A key pair as `minisign -G -W` makes one: where the secret key lies, and the public one.
    pub fn key(&self, name: &str) -> (PathBuf, PublicKey) {
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let file = self.write(&format!("{name}.key"), pair.sk.to_box(None).unwrap().into_string());
        (file, PublicKey::parse(&pair.pk.to_box().unwrap().into_string()).unwrap())
    }

    pub fn trust(&self, key: &PublicKey, name: &str) {
        TrustedKeys::load(&self.home).unwrap().trust(key, name).unwrap();
    }

    pub fn stage(&self, what: impl AsRef<str>) -> Result<Staged, PackageError> {
        stage(&Source::parse(what.as_ref())?, &self.home, &self.wishes)
    }

    pub fn add(&self, what: impl AsRef<str>) -> Result<Installed, PackageError> {
        self.stage(what)?.install(&self.home, false)
    }

    /// Why something is refused; nothing is left of it.
    #[track_caller]
    pub fn refused(&self, what: impl AsRef<str>) -> String {
        let before = self.installed();
        let told = self.add(what).expect_err("it is refused").to_string();
        assert_eq!(self.installed(), before, "{told}");
        told
    }

    /// Everything below the folders of packages and of registry files.
    pub fn installed(&self) -> Vec<PathBuf> {
        let mut found = vec![];
        walk(&self.home.packages(), &mut found);
        walk(&self.home.config.join("registry.d"), &mut found);
        found.sort();
        found
    }
}

fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => walk(&entry.path(), into),
            false => into.push(entry.path()),
        }
    }
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().into()
}

/// A skillset of the kit, built with the machine's C compiler.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("library-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = std::fs::read_to_string(workspace.join("host/kit/templates/c/skillset/plugin.c")).unwrap();
        std::fs::write(folder.join("plugin.c"), source.replace("@NAME@", "acme")).unwrap();
        let library = folder.join("libacme.so");
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
        cc.arg("-I").arg(workspace.join("plugin-api/include")).arg("-I").arg(workspace.join("host/kit/include"));
        cc.args(["-std=c99", "-fPIC", "-shared", "-O1", "-o"]);
        let output = cc.arg(&library).arg(folder.join("plugin.c")).output().expect("there is a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        library
    })
}
