# Sourced by the Makefile: makes sure that what the build needs is there, and sets what it has to know.
#
# Needed beside Rust, gcc, make and python3: g++, libclang (bindgen reads RocksDB's C header with it) and pkg-config.
# LODESEEK_BUNDLED=1 skips the prebuilt RocksDB: cargo then compiles the bundled one, half an hour a profile.

lodeseek_say() { echo "setup: $*" >&2; }

lodeseek_has_libclang() {
  # libclang-cpp.so is another library.
  ldconfig -p 2>/dev/null | grep -q 'libclang\(-[0-9.]*\)\?\.so' || ls /usr/lib/llvm-*/lib/ 2>/dev/null | grep -q '^libclang\(-[0-9.]*\)\?\.so' ||
    [ -n "${LIBCLANG_PATH:-}" ]
}

lodeseek_cache="${LODESEEK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lodeseek}"
lodeseek_missing=""
command -v g++ >/dev/null || lodeseek_missing="$lodeseek_missing g++"
command -v pkg-config >/dev/null || lodeseek_missing="$lodeseek_missing pkg-config"
[ -d "$lodeseek_cache/libclang/clang/native" ] && export LIBCLANG_PATH="$lodeseek_cache/libclang/clang/native"
lodeseek_has_libclang || lodeseek_missing="$lodeseek_missing libclang1"

if [ -n "$lodeseek_missing" ] && command -v apt-get >/dev/null; then
  lodeseek_sudo=""
  [ "$(id -u)" = 0 ] || lodeseek_sudo="sudo -n"
  lodeseek_say "installing$lodeseek_missing"
  $lodeseek_sudo apt-get update >/dev/null 2>&1
  # Debian names the package by version only; take the one it has.
  lodeseek_clang="$(apt-cache search --names-only '^libclang1-[0-9]+$' 2>/dev/null | sort -V | tail -1 | cut -d' ' -f1)"
  $lodeseek_sudo apt-get install -y --no-install-recommends ${lodeseek_missing/libclang1/${lodeseek_clang:-libclang1}} >/dev/null 2>&1 || true
fi
if ! lodeseek_has_libclang; then
  lodeseek_say "installing libclang from PyPI"
  python3 -m pip install -q --target "$lodeseek_cache/libclang" libclang >/dev/null 2>&1 || true
  [ -d "$lodeseek_cache/libclang/clang/native" ] && export LIBCLANG_PATH="$lodeseek_cache/libclang/clang/native"
fi
for lodeseek_tool in cargo g++ pkg-config python3; do
  command -v "$lodeseek_tool" >/dev/null || { lodeseek_say "$lodeseek_tool is missing and could not be installed: please install it"; exit 1; }
done
lodeseek_has_libclang || { lodeseek_say "libclang is missing and could not be installed: please install your system's libclang"; exit 1; }

# libclang comes without the compiler's own headers; gcc's serve.
export BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include)"
export CARGO_INCREMENTAL=0
if [ "${LODESEEK_BUNDLED:-0}" = 1 ]; then
  LODESEEK_FEATURES=""
else
  PKG_CONFIG_PATH="$(python3 .ci/rocksdb.py)" || exit 1
  export PKG_CONFIG_PATH
  LODESEEK_FEATURES="--features rocksdb-pkg-config"
fi

# Neural models are run by a library found when the program runs; without it their tests skip, and say so.
if [ -z "${ORT_DYLIB_PATH:-}" ]; then
  ORT_DYLIB_PATH="$(python3 .ci/onnxruntime.py)" || { ORT_DYLIB_PATH=""; lodeseek_say "no ONNX Runtime: neural models cannot be run"; }
fi
[ -n "$ORT_DYLIB_PATH" ] && export ORT_DYLIB_PATH || unset ORT_DYLIB_PATH
