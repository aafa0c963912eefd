"""A bill of materials in the CycloneDX form: the crates that are in the programs, as the lock file has them."""

import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def cyclonedx(root: Path, version: str, epoch: int) -> str:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", target(root)]
    metadata = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)
    built = in_programs(metadata)
    components = [component(package) for package in metadata["packages"] if package["id"] in built and package["source"]]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "name": "skillbench", "version": version},
        },
        "components": sorted(components, key=lambda one: one["bom-ref"]),
    }
    return json.dumps(document, indent=1) + "\n"


def target(root: Path) -> str:
    told = subprocess.run(["rustc", "-vV"], cwd=root, check=True, capture_output=True, text=True).stdout
    return next(line.split()[1] for line in told.splitlines() if line.startswith("host:"))


def in_programs(metadata) -> set:
    """All that the members need, but for what only tests and build scripts do."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    open_ones, found = list(metadata["workspace_members"]), set()
    while open_ones:
        package = open_ones.pop()
        if package not in found:
            found.add(package)
            needs = (need for need in nodes[package]["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"]))
            open_ones += [need["pkg"] for need in needs]
    return found


def component(package) -> dict:
    purl = f"pkg:cargo/{package['name']}@{package['version']}"
    told = {"type": "library", "bom-ref": purl, "name": package["name"], "version": package["version"], "purl": purl}
    if package["license"]:
        told["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    return told
