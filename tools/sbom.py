#!/usr/bin/env python3
"""Software bill of materials of the program, in CycloneDX 1.5 JSON: the crates that a build for one target links or runs.

usage: sbom.py TARGET [FEATURES] > FILE   (default features: those of the program)

Development dependencies are left out; build scripts and procedural macros are listed, since they run during the build. The
hashes are those of Cargo.lock. The document is the same for the same lock file.
"""

import json
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def metadata(target, features):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    if features:
        command += ["--features", features]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("sbom: cargo metadata failed")
    return json.loads(done.stdout)


def closure(graph, root):
    """Returns the package ids that the root needs, with the ids that each needs directly."""
    needs = {}
    waiting = [root]
    while waiting:
        package = waiting.pop()
        if package in needs:
            continue
        direct = [one["pkg"] for one in graph[package]["deps"] if any(kind["kind"] != "dev" for kind in one["dep_kinds"])]
        needs[package] = sorted(set(direct))
        waiting += direct
    return needs


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    made = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"], "purl": purl(package)}
    if package.get("license"):
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("repository"):
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def document(data, lock, target):
    packages = {package["id"]: package for package in data["packages"]}
    graph = {node["id"]: node for node in data["resolve"]["nodes"]}
    root = data["resolve"]["root"]
    needs = closure(graph, root)
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    made = [component(packages[one], checksums) for one in needs if one != root]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {**component(packages[root], checksums), "type": "application"},
            "properties": [{"name": "lodeseek:target", "value": target}],
        },
        "components": sorted(made, key=lambda one: one["bom-ref"]),
        "dependencies": [{"ref": purl(packages[one]), "dependsOn": [purl(packages[other]) for other in needs[one]]}
                         for one in sorted(needs, key=lambda one: purl(packages[one]))],
    }


def main():
    target, features = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    json.dump(document(metadata(target, features), lock, target), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
