#!/usr/bin/env bash
# Packs a release: the program, manual pages, shell completions, the shipped model, licence and documentation, with a checksum
# and a software bill of materials.
# usage: pack.sh PROGRAM TARGET FOLDER   -> FOLDER/lodeseek-VERSION-TARGET.tar.gz, .cdx.json, and .sha256 of both
set -euo pipefail
program=$(realpath "$1") target=$2
mkdir -p "$3"
output=$(realpath "$3")
cd "$(dirname "$0")/.."
version=$("$program" --version | cut -d' ' -f2)
name=lodeseek-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/completions"
install -m 755 "$program" "$work/$name/lodeseek"
strip "$work/$name/lodeseek"
cp LICENSE README.md CHANGELOG.md "$work/$name/"
cp -r models queries ontologies "$work/$name/"
"$program" man "$work/$name/man"
for shell in bash zsh fish; do "$program" completions "$shell" > "$work/$name/completions/lodeseek.$shell"; done
python3 tools/sbom.py "$target" > "$output/$name.cdx.json"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$output/$name.tar.gz" "$name"
(cd "$output" && sha256sum "$name.tar.gz" "$name.cdx.json" > "$name.sha256")
echo "$output/$name.tar.gz"
