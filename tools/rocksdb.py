#!/usr/bin/env python3
"""Prebuilt RocksDB: compiles the sources bundled by oxrocksdb-sys once into a static library with a `rocksdb.pc`.

usage: rocksdb.py [--offline] [--release]

Cargo compiles the bundled sources again for every profile and target folder, file by file: half an hour of C++ on two cores.
This script compiles the same sources with the same defines as a unity build: many files a compiler run, so each header is
read a few times only. That takes one to four minutes on two cores. The library for development builds is compiled with -O1, as their Rust
code is; with --release, with -O2. The cache folder is named after the crate's version, the compiler and the flags.
`cargo build --features rocksdb-pkg-config` links the library if PKG_CONFIG_PATH is that folder.

With --offline nothing is compiled: the script fails if the cache does not contain the library.
Prints the folder of `rocksdb.pc` on stdout, messages on stderr.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

FILES_A_UNIT = 42


def log(text):
    print(f"rocksdb: {text}", file=sys.stderr, flush=True)


def crate_folder():
    """Returns the folder and the version of oxrocksdb-sys, as unpacked by Cargo for this lock file."""
    root = pathlib.Path(__file__).resolve().parent.parent
    command = ["cargo", "metadata", "--format-version", "1", "--manifest-path", str(root / "Cargo.toml")]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        hint = "; if packages are missing, run `make setup` once with a network connection" if "--offline" in sys.argv[1:] else ""
        sys.exit(f"rocksdb: cargo metadata failed{hint}")
    metadata = json.loads(done.stdout)
    for package in metadata["packages"]:
        if package["name"] == "oxrocksdb-sys":
            return pathlib.Path(package["manifest_path"]).parent, package["version"]
    sys.exit("rocksdb: Cargo.lock contains no package oxrocksdb-sys")


def cpu_flags():
    """Returns the flags for hardware CRC32C, if the processor has it. The library is not portable to other machines."""
    try:
        flags = set(pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    except (OSError, IndexError):
        return []
    chosen = []
    if "sse4_2" in flags:
        chosen += ["-msse4.2", "-DHAVE_SSE42=1"]
    if "pclmulqdq" in flags:
        chosen += ["-mpclmul", "-DHAVE_PCLMUL=1"]
    return chosen


def defines():
    """Returns the defines of oxrocksdb-sys's build script for a POSIX system."""
    names = ["NDEBUG=1", "LZ4=1", "ROCKSDB_PLATFORM_POSIX", "ROCKSDB_LIB_IO_POSIX", "ROCKSDB_SUPPORT_THREAD_LOCAL",
             "HAVE_UINT128_EXTENSION=1", "OS_MACOSX" if sys.platform == "darwin" else "OS_LINUX"]
    return [f"-D{name}" for name in names]


def library_sources(crate):
    text = (crate / "rocksdb/src.mk").read_text().split("LIB_SOURCES =", 1)[1].split("ifeq", 1)[0]
    names = [name.strip() for name in text.split("\\")]
    return [f"rocksdb/{name}" for name in names if name and name != "util/build_version.cc"] + ["api/build_version.cc"]


def compile_one(compiler, flags, source, target, crate):
    command = [*compiler, *flags, "-c", str(source), "-o", str(target)]
    return subprocess.run(command, cwd=crate, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def compile_unit(number, files, compiler, flags, crate, work):
    """Compiles a unit. If its files clash (two static functions of one name), compiles each file separately."""
    unit = work / f"unit{number}.cc"
    unit.write_text("".join(f'#include "{crate / name}"\n' for name in files))
    target = work / f"unit{number}.o"
    if compile_one(compiler, flags, unit, target, crate).returncode == 0:
        return [target], 0
    objects = []
    for index, name in enumerate(files):
        target = work / f"unit{number}_{index}.o"
        done = compile_one(compiler, flags, crate / name, target, crate)
        if done.returncode != 0:
            sys.exit(f"rocksdb: {name} does not compile:\n{done.stdout[-4000:]}")
        objects.append(target)
    return objects, len(files)


def build(crate, version, folder, cxx, cc, flags):
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rocksdb-", dir=folder.parent) as scratch:
        work = pathlib.Path(scratch)
        files = library_sources(crate)
        units = [files[i:i + FILES_A_UNIT] for i in range(0, len(files), FILES_A_UNIT)]
        log(f"compiling {len(files)} files in {len(units)} units, once for this machine (one to four minutes on two cores)")
        objects, alone = [], 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            jobs = [pool.submit(compile_unit, n, unit, cxx, flags, crate, work) for n, unit in enumerate(units)]
            for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
                made, single = job.result()
                objects += made
                alone += single
                log(f"{done}/{len(units)} units, {time.monotonic() - started:.0f} s")
        for name in ["lz4", "lz4frame", "lz4hc", "xxhash"]:
            target = work / f"c_{name}.o"
            done = compile_one(cc, ["-O2", "-fPIC", "-DXXH_NAMESPACE=LZ4_"], crate / f"lz4/lib/{name}.c", target, crate)
            if done.returncode != 0:
                sys.exit(f"rocksdb: lz4/{name}.c does not compile:\n{done.stdout[-4000:]}")
            objects.append(target)
        library = work / "librocksdb.a"
        subprocess.run(["ar", "crs", str(library), *map(str, sorted(objects))], check=True)
        runtime = "-lc++" if sys.platform == "darwin" else "-lstdc++"
        header = (crate / "rocksdb/include/rocksdb/version.h").read_text()
        rocksdb_version = ".".join(re.search(rf"ROCKSDB_{part} (\d+)", header)[1] for part in ["MAJOR", "MINOR", "PATCH"])
        shutil.copytree(crate / "rocksdb/include", work / "include")
        (work / "rocksdb.pc").write_text(
            f"libdir={folder}\nincludedir={folder}/include\n\nName: rocksdb\n"
            f"Description: RocksDB as bundled by oxrocksdb-sys {version}\nVersion: {rocksdb_version}\n"
            f"Libs: -L${{libdir}} -lrocksdb {runtime} -lpthread -lm\nCflags: -I${{includedir}}\n")
        staged = folder.with_name(f"{folder.name}.{os.getpid()}.new")
        staged.mkdir()
        for name in ["librocksdb.a", "rocksdb.pc", "include"]:
            shutil.move(str(work / name), str(staged / name))
        try:
            os.replace(staged, folder)  # atomic
        except OSError:
            shutil.rmtree(staged, ignore_errors=True)
            if not (folder / "rocksdb.pc").exists():  # otherwise a concurrent run finished first
                raise
    log(f"built in {time.monotonic() - started:.0f} s ({alone} files compiled separately)")


def main():
    crate, version = crate_folder()
    cxx = os.environ.get("CXX", "g++").split()
    cc = os.environ.get("CC", "gcc").split()
    optimization = "-O2" if "--release" in sys.argv[1:] else "-O1"
    flags = [optimization, "-fPIC", "-std=c++20", "-w", *cpu_flags(), *defines(), "-Irocksdb/include", "-Irocksdb", "-Ilz4/lib"]
    identity = subprocess.run([*cxx, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    key = hashlib.sha256("\n".join([version, identity, *flags]).encode()).hexdigest()[:12]
    cache = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                         pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
    folder = cache / f"rocksdb-{version}-{key}"
    if not (folder / "rocksdb.pc").exists():
        if "--offline" in sys.argv[1:]:
            sys.exit("rocksdb: the cache contains no prebuilt RocksDB for this compiler; run `make setup` (one to four minutes)")
        folder.parent.mkdir(parents=True, exist_ok=True)
        build(crate, version, folder, cxx, cc, flags)
    print(folder)


if __name__ == "__main__":
    main()
