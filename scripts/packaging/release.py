"""Packs a build: see scripts/release. `stage` lays out an installation; each form of it is a function of its own."""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

from sbom import cyclonedx

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / sys.argv[1]
# Of gzip, xz and zip: 9 for what is handed on.
LEVEL = int(sys.argv[3])
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
ARCH = os.uname().machine
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
SUMMARY = "Measures models on accelerator backends that are loaded as plugins"
# Files in an installation that are run: all others are read.
PROGRAMS = ("host", "skillbench-worker", "skillbench-check")


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def libraries():
    """What lies beside the program: worker, database and plugins, without symbols of debuggers."""
    return [BUILT / name for name in PROGRAMS] + [ROOT / "target" / "release" / "libduckdb.so"] + sorted(BUILT.glob("libskillbench_*.so"))


def stage(prefix: Path, debug: Path):
    """An installation, and the symbols of its programs apart: bin/skillbench leads to lib/skillbench/host, which looks for all that it needs beside itself."""
    lib = prefix / "lib" / "skillbench"
    lib.mkdir(parents=True)
    for library in libraries():
        symbols = debug / f"{library.name}.debug"
        run("objcopy", "--only-keep-debug", library, symbols)
        run("strip", "--strip-unneeded", "-o", lib / library.name, library)
        run("objcopy", f"--add-gnu-debuglink={symbols}", lib / library.name)
    (prefix / "bin").mkdir()
    (prefix / "bin" / "skillbench").symlink_to("../lib/skillbench/host")
    (prefix / "bin" / "skillbench-check").symlink_to("../lib/skillbench/skillbench-check")
    share = prefix / "share"
    skillbench = prefix / "bin" / "skillbench"
    run(skillbench, "man", share / "man" / "man1")
    places = {
        "bash": "bash-completion/completions/skillbench",
        "zsh": "zsh/site-functions/_skillbench",
        "fish": "fish/vendor_completions.d/skillbench.fish",
    }
    for shell, place in places.items():
        (share / place).parent.mkdir(parents=True)
        (share / place).write_text(run(skillbench, "completions", shell))
    doc = share / "doc" / "skillbench"
    doc.mkdir(parents=True)
    for name in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / name, doc)
    (doc / "sbom.cdx.json").write_text(cyclonedx(ROOT, VERSION, EPOCH))


def mode(path: Path) -> int:
    return 0o755 if path.is_dir() or path.name in PROGRAMS or path.name == "install" or ".so" in path.suffixes else 0o644


def tarball(prefix: Path, out: Path, name: str, level: int = LEVEL) -> Path:
    file = out / f"{name}.tar.gz"
    with gzip.GzipFile(file, "wb", level, mtime=EPOCH) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(prefix.rglob("*")):
            entry = tar.gettarinfo(path, f"{name}/{path.relative_to(prefix)}")
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = EPOCH, 0, 0, "", ""
            entry.mode = mode(path)
            with open(path, "rb") if entry.isreg() else io.BytesIO() as content:
                tar.addfile(entry, content if entry.isreg() else None)
    return file


def glibc() -> str:
    """The newest symbol of the C library that anything needs: "2.35"."""
    wanted = set()
    for library in libraries():
        wanted.update(re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", library)))
    newest = max((int(major), int(minor)) for major, minor in wanted)
    return f"{newest[0]}.{newest[1]}"


def debian(prefix: Path, out: Path):
    if not shutil.which("dpkg-deb"):
        print("no dpkg-deb: the Debian package is left out", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        shutil.copytree(prefix, root / "usr", symlinks=True)
        for page in (root / "usr/share/man/man1").iterdir():
            (page.parent / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=EPOCH))
            page.unlink()
        units = root / "usr/lib/systemd/system"
        units.mkdir(parents=True)
        shutil.copy(ROOT / "scripts" / "packaging" / "skillbench-agent@.service", units)
        (root / "DEBIAN").mkdir()
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink()) // 1024
        (root / "DEBIAN" / "control").write_text(
            f"Package: skillbench\nVersion: {VERSION}\nArchitecture: {DEBIAN[ARCH]}\nMaintainer: skillbench\n"
            f"Installed-Size: {size}\nDepends: libc6 (>= {glibc()}), libgcc-s1, libstdc++6\nRecommends: python3-pip\n"
            f"Section: science\nPriority: optional\nDescription: {SUMMARY}\n"
            " The backends rten and its models work as they are; `skillbench runtime install cpu` fetches\n"
            " ONNX Runtime with the machine's own pip, and other runtimes alike.\n"
        )
        for path in [root, *root.rglob("*")]:
            if not path.is_symlink():
                path.chmod(mode(path))
            os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)
        file = out / f"skillbench_{VERSION}_{DEBIAN[ARCH]}.deb"
        run("dpkg-deb", "-Zxz", f"-z{min(LEVEL, 6)}", "--root-owner-group", "--build", root, file)
        return file


def extras() -> dict[str, list[str]]:
    """By plugin, what pip has of what it needs, at the pins of the registry."""
    registry = tomllib.loads((ROOT / "registry.toml").read_text())
    pins = {}
    for package in registry["package"]:
        if "pypi" in package and any(name in package["files"] for name in (f"linux-{ARCH}", "any")):
            pins.setdefault(package["name"], f"{package['pypi']}=={package['version']}")
    found = {}
    for plugin in registry["plugin"]:
        needs = [name for value in plugin.get("runtime", {}).values() for name in ([value] if isinstance(value, str) else value)]
        names = sorted({need.split(":")[0].split("/")[0] for need in needs})
        wanted = [pins[name] for name in names if name in pins]
        if wanted:
            found[plugin["id"]] = wanted
    return found


def wheel(prefix: Path, out: Path) -> Path:
    tag = f"py3-none-manylinux_{glibc().replace('.', '_')}_{ARCH}"
    info = f"skillbench-{VERSION}.dist-info"
    lib = prefix / "lib" / "skillbench"
    module = (ROOT / "scripts" / "packaging" / "__init__.py.in").read_text().replace("@VERSION@", VERSION)
    metadata = [
        "Metadata-Version: 2.4", "Name: skillbench", f"Version: {VERSION}", f"Summary: {SUMMARY}", "Requires-Python: >=3.9",
        "License-Expression: MIT OR Apache-2.0", "License-File: LICENSE-MIT", "License-File: LICENSE-APACHE",
        "Description-Content-Type: text/markdown",
    ]  # fmt: skip
    for extra, needs in extras().items():
        metadata.append(f"Provides-Extra: {extra}")
        metadata += [f"Requires-Dist: {need} ; extra == '{extra}'" for need in needs]
    readme = (ROOT / "scripts" / "packaging" / "wheel.md").read_text()
    files = {
        "skillbench/__init__.py": module.encode(),
        "skillbench/__main__.py": b"from skillbench import main\n\nmain()\n",
        "skillbench/py.typed": b"",
        f"{info}/METADATA": ("\n".join(metadata) + "\n\n" + readme).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: skillbench\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        f"{info}/entry_points.txt": b"[console_scripts]\nskillbench = skillbench:main\nskillbench-check = skillbench:check\n",
        f"{info}/licenses/LICENSE-MIT": (ROOT / "LICENSE-MIT").read_bytes(),
        f"{info}/licenses/LICENSE-APACHE": (ROOT / "LICENSE-APACHE").read_bytes(),
        f"{info}/sboms/skillbench.cdx.json": cyclonedx(ROOT, VERSION, EPOCH).encode(),
    }
    files |= {f"skillbench/lib/{path.name}": path.read_bytes() for path in sorted(lib.iterdir())}
    record = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    file = out / f"skillbench-{VERSION}-{tag}.whl"
    date = max(time.gmtime(EPOCH)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode(Path(name))) << 16
            archive.writestr(entry, content)
    return file


def main(out: Path):
    with tempfile.TemporaryDirectory() as folder:
        prefix, debug = Path(folder) / "prefix", Path(folder) / "debug"
        prefix.mkdir()
        debug.mkdir()
        stage(prefix, debug)
        made = [debian(prefix, out), wheel(prefix, out)]
        shutil.copy(ROOT / "scripts" / "packaging" / "install", prefix / "install")
        name = f"skillbench-{VERSION}-linux-{ARCH}"
        made = [tarball(prefix, out, name), *filter(None, made), tarball(debug, out, f"{name}-debug", min(LEVEL, 6))]
    sums = ""
    for file in made:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        sums += f"{digest}  {file.name}\n"
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")
    (out / "SHA256SUMS").write_text(sums)


main(Path(sys.argv[2]))
