"""``python -m lodeseek.spark``: derives a collection on a Spark cluster, and publishes it.

Spark schedules, the program computes, object storage serves. Each partition of tasks goes through one worker (``lodeseek cluster work``)
by ``mapInArrow``. Workers read dumps from object storage or the web, and write graph files and records to it; rows that pass through Spark are small.
The driver assembles the home (``lodeseek cluster assemble``) and publishes it as the next snapshot (``lodeseek publish``).

Any Spark 4 takes the job: local, standalone, YARN, Kubernetes. The program must be installed on all machines, for example by this wheel.
The variables ``AWS_*`` configure the access to storage, on the driver and on the executors.
"""

import argparse
import heapq
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from ._errors import LodeseekError
from ._program import find_program

RESULT_SCHEMA = ("position long, id string, base string, status string, reason string, triples long, skipped long, fingerprint string, "
                 "graph string, record string, record_bytes long, stored_bytes long, seconds double, encoding_seconds double, "
                 "peak_bytes long")
# Columns that a worker reads. Other columns of a manifest are ignored.
TASK_COLUMNS = ["position", "id", "base", "planned", "bytes", "description", "sources"]
SUMMARY = """
SELECT count(*) AS datasets, count_if(status = 'failed') AS failed, sum(triples) AS triples, sum(stored_bytes) AS stored_bytes,
       sum(seconds) AS seconds, sum(encoding_seconds) AS encoding_seconds, max(peak_bytes) AS peak_bytes
FROM results"""
DUPLICATES = """
SELECT count(*) AS keys, coalesce(sum(datasets), 0) AS datasets
FROM (SELECT count(*) AS datasets FROM results WHERE fingerprint IS NOT NULL AND triples > 0 GROUP BY fingerprint HAVING count(*) > 1)"""


def bins(sizes: Sequence[Tuple[int, str]], count: int) -> List[List[int]]:
    """Distributes tasks over bins of similar size: the largest task first, each to the smallest bin. Returns the indexes of each bin.

    ``sizes`` has the size and the group of each task. Tasks of one group, other than the empty one, stay in one bin: one worker
    then sends all requests to a host.

    >>> bins([(5, ""), (1, ""), (4, ""), (2, "")], 2)
    [[0, 1], [2, 3]]
    >>> bins([(5, "a"), (1, "b"), (4, "a"), (2, "b")], 2)
    [[0, 2], [1, 3]]
    """
    groups: Dict[Tuple[str, int], List[int]] = {}
    for index, (_, group) in enumerate(sizes):
        groups.setdefault((group, 0 if group else index), []).append(index)
    total = {key: sum(sizes[index][0] for index in members) for key, members in groups.items()}
    filled: List[List[int]] = [[] for _ in range(max(1, min(count, len(groups))))]
    loads = [(0, number) for number in range(len(filled))]  # a heap
    for key in sorted(groups, key=lambda key: (-total[key], groups[key][0])):
        load, smallest = loads[0]
        filled[smallest].extend(groups[key])
        heapq.heapreplace(loads, (load + total[key], smallest))
    return [sorted(members) for members in filled if members]


class _Worker:
    """One worker process. Batches of tasks go in, batches of results come out."""

    def __init__(self, command: Sequence[str], environment: Dict[str, str]) -> None:
        self.command = list(command)
        self.environment = environment

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        tasks = [batch for batch in batches if batch.num_rows]
        if not tasks:
            return
        with tempfile.TemporaryFile() as messages:
            process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages,
                                       env={**os.environ, **self.environment})
            assert process.stdin is not None and process.stdout is not None
            # The worker writes results while it still reads tasks.
            writer = threading.Thread(target=_write, args=(process.stdin, tasks), daemon=True)
            writer.start()
            try:
                yield from pa.ipc.open_stream(process.stdout)
            except pa.ArrowInvalid:
                pass  # the worker ended early: its message and exit code are reported below
            finally:
                if sys.exc_info()[0] is not None:
                    process.kill()
                status = process.wait()
            if status != 0:
                messages.seek(0)
                reason = messages.read().decode("utf-8", "replace").strip()[-2000:]
                raise LodeseekError(f"the worker ended with exit code {status}: {reason}")


def _write(stream: Any, batches: Sequence[Any]) -> None:
    import pyarrow as pa

    try:
        with stream, pa.ipc.new_stream(stream, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    except (OSError, pa.ArrowException):
        pass  # the worker ended; its exit code is reported


def derive(session: Any, tasks: Any, location: str, *, partitions: Optional[int] = None, arguments: Sequence[str] = (),
           program: Optional[str] = None, environment: Optional[Dict[str, str]] = None) -> Any:
    """Returns a DataFrame with the results of tasks, one row for each dataset. It is evaluated when it is used.

    ``tasks`` is a DataFrame with the columns of ``lodeseek cluster plan``; a column ``host`` keeps the tasks of a host together.
    ``arguments`` go to ``lodeseek cluster work``. ``program`` is the path of the program on the executors.
    """
    from pyspark.sql.types import IntegerType, StructField, StructType

    sized = tasks.select("position", "bytes", *(["host"] if "host" in tasks.columns else [])).collect()
    count = partitions or 4 * max(1, session.sparkContext.defaultParallelism)
    # Small datasets cost time, too: about that of 100 KB.
    distributed = bins([(row["bytes"] + 100_000, (row["host"] or "") if "host" in row else "") for row in sized], count)
    numbers = [(sized[index]["position"], number) for number, members in enumerate(distributed) for index in members]
    bin_schema = StructType([StructField("position", tasks.schema["position"].dataType), StructField("bin", IntegerType())])
    binned = tasks.join(session.createDataFrame(numbers, bin_schema), "position").select("bin", *TASK_COLUMNS)
    placed = binned.rdd.map(lambda row: (row["bin"], tuple(row)[1:])).partitionBy(len(distributed), _identity).values()
    schema = StructType([tasks.schema[name] for name in TASK_COLUMNS])
    command = [program or find_program(), "cluster", "work", location, *arguments]
    worker = _Worker(command, environment or {})
    return session.createDataFrame(placed, schema).mapInArrow(worker, RESULT_SCHEMA)


def _identity(number: int) -> int:
    return number


def plan(session: Any, sources: Sequence[str], *, arguments: Sequence[str] = (), program: Optional[str] = None) -> Any:
    """Returns a DataFrame of tasks, made by ``lodeseek cluster plan`` on the driver."""
    import pyarrow as pa

    command = [program or find_program(), "cluster", "plan", *sources, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise LodeseekError(f"{' '.join(command)} ended with exit code {done.returncode}")
    return session.createDataFrame(pa.ipc.open_stream(done.stdout).read_all())


def summary(session: Any, results: Any) -> Dict[str, Any]:
    """Returns statistics of results, computed by Spark SQL: numbers, failures, and datasets with equal content."""
    results.createOrReplaceTempView("results")
    numbers = session.sql(SUMMARY).collect()[0].asDict()
    duplicates = session.sql(DUPLICATES).collect()[0]
    numbers["duplicate_keys"], numbers["datasets_with_duplicates"] = duplicates["keys"], duplicates["datasets"]
    return numbers


def assemble(results: Any, location: str, home: str, *, arguments: Sequence[str] = (), program: Optional[str] = None) -> bool:
    """Assembles a home from results, by ``lodeseek cluster assemble``. Returns True if every dataset was derived."""
    import pyarrow as pa

    table = results.toArrow()
    command = [program or find_program(), "--home", home, "cluster", "assemble", location, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert process.stdin is not None
    try:
        with process.stdin, pa.ipc.new_stream(process.stdin, table.schema) as writer:
            writer.write_table(table)
    except (OSError, pa.ArrowException):
        pass  # the program ended; its exit code is reported
    status = process.wait()
    if status not in (0, 1):
        raise LodeseekError(f"{' '.join(command)} ended with exit code {status}")
    return status == 0


def _reason(error: Exception) -> str:
    """Returns the message of a failed worker from the error of Spark, which has traces of several processes. Otherwise returns the whole error.

    >>> _reason(Exception("File \\"spark.py\\", line 95\\nLodeseekError: the worker ended\\nwith 2\\n\\nat java.base"))
    'the worker ended\\nwith 2'
    >>> _reason(Exception("no executor"))
    'no executor'
    """
    found = re.search(r"LodeseekError: (.+?)\n\s*\n", str(error), re.DOTALL)
    return found[1] if found else str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lodeseek.spark", description=__doc__.split("\n\n")[0])
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="catalogues and dumps on the driver, as for `lodeseek load`")
    parser.add_argument("--manifest", help="table of tasks in place of SOURCE: Parquet files that Spark can read")
    parser.add_argument("--destination", required=True, metavar="URL", help="storage of results and snapshots: s3://BUCKET/PREFIX")
    parser.add_argument("--home", required=True, help="folder of the collection, on the driver")
    parser.add_argument("--files", help="folder of SOURCE whose files have been copied to --files-at")
    parser.add_argument("--files-at", metavar="URL", help="address of these files: s3://BUCKET/PREFIX")
    parser.add_argument("--download", action="store_true", help="let workers download the RDF files of the web that SOURCE describes")
    parser.add_argument("--master", help="master of Spark, if `spark-submit` sets none: local[2], spark://HOST:7077, …")
    parser.add_argument("--partitions", type=int, help="number of partitions (default: four for each core)")
    parser.add_argument("--memory", type=int, help="memory of the derivation of one dataset in megabytes")
    parser.add_argument("--worker-options", metavar="TEXT", default="", help="further options of `lodeseek cluster work`, for example \"--host https://data.example.org/\"")
    parser.add_argument("--ranking", choices=["words", "balanced", "best"], help="words and balanced need no vectors (default: best)")
    parser.add_argument("--results", metavar="PATH", help="write the results as Parquet files, for queries by Spark SQL")
    parser.add_argument("--keep", type=int, help="number of snapshots that are kept (default: all)")
    parser.add_argument("--program", help="path of the program on all machines (default: the one of this Python environment)")
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the job. Prints its statistics as JSON. Returns 0; 1 if a dataset could not be derived."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    options = _parser().parse_args(arguments)
    if bool(options.manifest) == bool(options.sources):
        _parser().error("name either SOURCE or --manifest")
    if bool(options.files) != bool(options.files_at):
        _parser().error("name both --files and --files-at, or neither")
    builder = SparkSession.builder.appName("lodeseek")
    session = (builder.master(options.master) if options.master else builder).getOrCreate()
    program = options.program or find_program()
    ranking = ["--ranking", options.ranking] if options.ranking else []
    started = time.monotonic()
    if options.manifest:
        tasks = session.read.parquet(options.manifest)
    else:
        places = ["--files", options.files, "--files-at", options.files_at] if options.files_at else []
        downloads = ["--download"] if options.download else []
        tasks = plan(session, options.sources, arguments=[*places, *downloads], program=program)
    # As many workers as Spark's tasks run at one time: each has the cores of a task.
    cores = session.sparkContext.getConf().get("spark.task.cpus", "1")
    work = ["--model-threads", cores, *ranking, *(["--memory", str(options.memory)] if options.memory else []),
            *shlex.split(options.worker_options)]
    storage = {name: value for name, value in os.environ.items() if name.startswith(("AWS_", "LODESEEK_"))}
    results = derive(session, tasks, options.destination, partitions=options.partitions, arguments=work, program=program, environment=storage)
    results = results.persist()
    try:
        report = summary(session, results)
    except PySparkException as error:
        session.stop()
        raise LodeseekError(_reason(error)) from error
    report["derivation_seconds"] = time.monotonic() - started
    if options.results:
        results.write.mode("overwrite").parquet(options.results)
    started = time.monotonic()
    is_complete = assemble(results, options.destination, options.home, arguments=ranking, program=program)
    report["assembly_seconds"] = time.monotonic() - started
    started = time.monotonic()
    keep = ["--keep", str(options.keep)] if options.keep else []
    command = [program, "--home", options.home, "publish", options.destination, "--json", *keep]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    session.stop()
    if done.returncode != 0:
        raise LodeseekError(f"{' '.join(command)} ended with exit code {done.returncode}")
    report["publication_seconds"] = time.monotonic() - started
    report["snapshot"] = json.loads(done.stdout)["snapshot"]
    print(json.dumps(report, indent=2))
    return 0 if is_complete else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LodeseekError as error:
        sys.exit(f"lodeseek.spark: {error}")
