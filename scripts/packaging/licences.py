"""Holds what crates say of themselves against deny.toml: licences that are allowed, and crates.io as the only source."""

import json
import pathlib
import re
import subprocess
import sys

try:
    import tomllib
except ImportError:
    sys.exit(print("skipped: Python before 3.11 reads no TOML, and cargo-deny is not here: scripts/dependencies --install"))

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def is_allowed(expression, allowed):
    """Whether an SPDX expression can be kept with these licences; "/" is an old way to write OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def either():
        one = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            one = both() or one
        return one

    def both():
        one = single()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            one = single() and one
        return one

    def single():
        token = tokens.pop(0)
        if token == "(":
            inner = either()
            tokens.pop(0)
            return inner
        if tokens and tokens[0] == "WITH":
            token = " ".join([token, tokens.pop(0), tokens.pop(0)])
        return token in allowed

    try:
        return either() and not tokens
    except IndexError:
        return False


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]
    exceptions = {one["crate"]: one["allow"] for one in rules.get("exceptions", [])}
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    packages = json.loads(subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)["packages"]
    wrong = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if package["source"] not in (None, CRATES_IO):
            wrong.append(f"{name} comes from {package['source']}")
        allowed = set(rules["allow"]) | set(exceptions.get(package["name"], []))
        if not is_allowed(package["license"] or "none", allowed):
            wrong.append(f"{name} has the licence {package['license']!r}, which deny.toml does not allow")
    for text in wrong:
        print(f"wrong: {text}", file=sys.stderr)
    print(f"{len(packages)} crates, {len(wrong)} against deny.toml, by what they say of themselves (cargo-deny reads their files, too)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
