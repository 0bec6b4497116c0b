#!/usr/bin/env bash
# Packs a release: the program with manual pages, shell completions, the included model and ONNX Runtime; the archive also with the
# documentation and the collections of its tutorials.
# usage: package.sh tarball PROGRAM FOLDER   -> FOLDER/lodeseek-VERSION-TARGET.tar.gz, .cdx.json, and .sha256 of both
#        package.sh deb PROGRAM FOLDER       -> FOLDER/lodeseek_VERSION-1_ARCHITECTURE.deb, and .sha256; needs cargo-deb
set -euo pipefail
[ $# = 3 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
kind=$1 program=$(realpath "$2")
mkdir -p "$3"
output=$(realpath "$3")
cd "$(dirname "$0")/.."
version=$("$program" --version | cut -d' ' -f2)
target=$(rustc -vV | sed -n 's/^host: //p')
staged=target/package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Libraries of every Debian-like system. Others belong into the program or into the dependencies of the package.
system_libraries='^(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$'

# Files and folders of testdata/ that the tutorials and how-to guides load. tests/tools/test_docs.py compares them with the pages.
tutorial_data=(README.md catalog.ttl dumps folds papers-with-code.json qrels.txt queries.tsv research runs tables thesaurus.ttl)

# Prints the shared libraries that a file needs.
needed_libraries() { objdump -p "$1" | sed -n 's/^ *NEEDED *//p'; }

# Prints the newest version of a library's symbols that a file needs, as GLIBC_2.34.
newest_symbol() { objdump -T "$1" | grep -o "$2_[0-9.]*" | sort -uV | tail -1; }

# Copies all files of a package to $staged. ONNX Runtime keeps the name of its folder, which contains its version.
stage() {
  local library shell file other
  library=$(python3 tools/onnxruntime.py)
  rm -rf "$staged"
  mkdir -p "$staged/completions" "$staged/lib"
  install -m 755 "$program" "$staged/lodeseek"
  strip "$staged/lodeseek"
  cp -r "$(dirname "$library")" "$staged/lib/"
  find "$staged/lib" -type f -exec chmod 644 {} +
  for file in "$staged/lodeseek" "$staged"/lib/*/libonnxruntime*; do
    other=$(needed_libraries "$file" | grep -vE "$system_libraries" || true)
    if [ -n "$other" ]; then
      echo "package: $file needs libraries that systems may lack: ${other//$'\n'/ }; link them statically" >&2
      exit 1
    fi
  done
  "$program" man "$staged/man"
  for shell in bash zsh fish; do "$program" completions "$shell" > "$staged/completions/lodeseek.$shell"; done
}

tarball() {
  local name=lodeseek-$version-$target
  cp -r "$staged" "$work/$name"
  cp -r LICENSE README.md CHANGELOG.md models queries ontologies deploy "$work/$name/"
  mv "$work/$name/deploy/INSTALL.md" "$work/$name/"
  mkdir "$work/$name/testdata"
  cp -r "${tutorial_data[@]/#/testdata/}" "$work/$name/testdata/"
  # A page of the documentation includes the results.
  cp -r --parents docs/src acordar/RESULTS.md "$work/$name/"
  {
    printf '\n## Needed libraries\n\n'
    needed_libraries "$staged/lodeseek" | sed 's/^/- /'
    printf '\nThe newest symbols are %s and %s.\n' "$(newest_symbol "$staged/lodeseek" GLIBC)" "$(newest_symbol "$staged/lodeseek" GLIBCXX)"
  } >> "$work/$name/INSTALL.md"
  python3 tools/sbom.py "$target" > "$output/$name.cdx.json"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$output/$name.tar.gz" "$name"
  (cd "$output" && sha256sum "$name.tar.gz" "$name.cdx.json" > "$name.sha256")
  echo "$output/$name.tar.gz"
}

deb() {
  local file
  if ! cargo deb --version >/dev/null 2>&1; then
    echo "package: cargo-deb is missing; run \`cargo install cargo-deb --locked\`" >&2
    exit 1
  fi
  file=$(cargo deb --no-build --no-strip --output "$output/")
  (cd "$output" && sha256sum "$(basename "$file")" > "$(basename "$file" .deb).deb.sha256")
  echo "$file"
}

case $kind in
  tarball | deb) stage && "$kind" ;;
  *) echo "package: unknown kind $kind; use tarball or deb" >&2; exit 2 ;;
esac
