# shellcheck shell=bash disable=SC2034
# Build environment, sourced by the Makefile and by the scripts in tools/: `. tools/env.sh [OPTION ...]`.
#
# Prerequisites beside Rust, gcc, make and python3: g++, pkg-config and libclang (bindgen parses RocksDB's C header with it).
# Missing ones are installed. With --offline, or LODESEEK_OFFLINE=1, nothing is installed or downloaded: the script lists what is
# missing, names the command that installs it, and fails. With --release the prebuilt RocksDB is the fully optimized one.
# With --without-rocksdb neither RocksDB nor what compiles it is set up: for crates that do not link it.
# With --once, and in continuous integration, incremental data and line tables are left out: a first build is faster without them.
#
# Reads:  LODESEEK_CACHE     cache folder (default: lodeseek in the user's cache folder)
#         LODESEEK_BUNDLED   1: let Cargo compile the bundled RocksDB (half an hour a profile) instead of linking the prebuilt one
#         ORT_DYLIB_PATH     ONNX Runtime's library (default: the one in the cache folder, downloaded from PyPI)
# Sets:   LODESEEK_FEATURES  Cargo's flags for the chosen RocksDB; PKG_CONFIG_PATH, LIBCLANG_PATH, ORT_DYLIB_PATH

lodeseek_log() { echo "setup: $*" >&2; }

lodeseek_has_libclang() {
  # libclang-cpp.so is another library. grep -c reads to the end: with pipefail, grep -q would fail the pipeline.
  [ -n "${LIBCLANG_PATH:-}" ] || ldconfig -p 2>/dev/null | grep -c 'libclang\(-[0-9.]*\)\?\.so' >/dev/null ||
    compgen -G '/usr/lib/llvm-*/lib/libclang[-.][0-9s]*' >/dev/null
}

# Prints the missing prerequisites, one word each.
lodeseek_missing_tools() {
  local tool
  for tool in cargo python3; do command -v "$tool" >/dev/null || echo "$tool"; done
  if [ -n "$lodeseek_without_rocksdb" ]; then return; fi
  for tool in g++ pkg-config; do command -v "$tool" >/dev/null || echo "$tool"; done
  lodeseek_has_libclang || echo libclang
}

lodeseek_use_cached_libclang() {
  local folder="$lodeseek_cache/libclang/clang/native"
  if [ -z "${LIBCLANG_PATH:-}" ] && [ -d "$folder" ]; then export LIBCLANG_PATH="$folder"; fi
}

# Installs missing Debian packages, and libclang from PyPI where Debian's cannot be installed.
lodeseek_install_tools() {
  local packages="" sudo="" libclang
  command -v g++ >/dev/null || packages="$packages g++"
  command -v pkg-config >/dev/null || packages="$packages pkg-config"
  lodeseek_has_libclang || packages="$packages libclang1"
  if [ -n "$packages" ] && command -v apt-get >/dev/null; then
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    lodeseek_log "installing$packages"
    $sudo apt-get update >/dev/null 2>&1
    # Debian's package name contains the version; the newest one is installed.
    libclang="$(apt-cache search --names-only '^libclang1-[0-9]+$' 2>/dev/null | sort -V | tail -1 | cut -d' ' -f1)"
    # shellcheck disable=SC2086
    $sudo apt-get install -y --no-install-recommends ${packages/libclang1/${libclang:-libclang1}} >/dev/null 2>&1 || true
  fi
  if ! lodeseek_has_libclang; then
    lodeseek_log "installing libclang from PyPI"
    python3 tools/packages.py libclang "$lodeseek_cache/libclang" || true
    lodeseek_use_cached_libclang
  fi
}

lodeseek_cache="${LODESEEK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lodeseek}"
lodeseek_offline=""
lodeseek_release=""
lodeseek_without_rocksdb=""
lodeseek_once="${CI:-}"
for lodeseek_argument in "$@"; do
  case "$lodeseek_argument" in
    --offline) lodeseek_offline=--offline ;;
    --release) lodeseek_release=--release ;;
    --without-rocksdb) lodeseek_without_rocksdb=1 ;;
    --once) lodeseek_once=true ;;
  esac
done
if [ -n "$lodeseek_offline" ] || [ "${LODESEEK_OFFLINE:-0}" = 1 ]; then
  lodeseek_offline=--offline
  export CARGO_NET_OFFLINE=true
fi

lodeseek_use_cached_libclang
if [ -z "$lodeseek_offline$lodeseek_without_rocksdb" ]; then lodeseek_install_tools; fi
lodeseek_missing="$(lodeseek_missing_tools | paste -s -d' ' -)"
if [ -n "$lodeseek_missing" ]; then
  if [ -n "$lodeseek_offline" ]; then
    lodeseek_log "missing: $lodeseek_missing. \`make setup\` installs g++, pkg-config and libclang; install Rust (rustup) and Python 3 first."
  else
    lodeseek_log "missing, and the automatic installation failed: $lodeseek_missing. Install with your system's package manager."
  fi
  exit 1
fi

if [ "$lodeseek_once" = true ]; then export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0; fi

LODESEEK_FEATURES=""
if [ -z "$lodeseek_without_rocksdb" ]; then
  # The libclang package lacks the compiler's own headers; gcc's are used.
  BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include)"
  export BINDGEN_EXTRA_CLANG_ARGS
fi
if [ -z "$lodeseek_without_rocksdb" ] && [ "${LODESEEK_BUNDLED:-0}" != 1 ]; then
  PKG_CONFIG_PATH="$(python3 tools/rocksdb.py $lodeseek_offline $lodeseek_release)" || exit 1
  export PKG_CONFIG_PATH
  LODESEEK_FEATURES="--features lodeseek/rocksdb-pkg-config"
fi

# The program loads ONNX Runtime when it runs. Without the library, tests of neural models are skipped with a message.
if [ -z "${ORT_DYLIB_PATH:-}" ]; then
  ORT_DYLIB_PATH="$(python3 tools/onnxruntime.py $lodeseek_offline)" || {
    ORT_DYLIB_PATH=""
    lodeseek_log "no ONNX Runtime: tests and re-ranking with neural models are skipped"
  }
fi
if [ -n "$ORT_DYLIB_PATH" ]; then export ORT_DYLIB_PATH; else unset ORT_DYLIB_PATH; fi
