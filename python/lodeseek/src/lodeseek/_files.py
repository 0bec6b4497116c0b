"""Topics, judgements and runs as files of TREC formats. Tables come from mappings or DataFrames."""

import os
import pathlib
from typing import Any, Iterable, List, Mapping, Sequence, Tuple, Union

from ._errors import LodeseekError
from ._program import PathLike

# Names of columns in PyTerrier, ir_measures and ir_datasets.
TOPIC = ("qid", "query_id", "topic")
TEXT = ("query", "text")
DOCUMENT = ("docno", "doc_id", "id", "dataset")
GRADE = ("label", "relevance", "grade")

Topics = Union[PathLike, Mapping[str, str], Any]
Table = Union[PathLike, Any]


def topics_file(topics: Topics, folder: pathlib.Path) -> pathlib.Path:
    """Returns a file of topics, written to the folder unless ``topics`` is a path."""
    if isinstance(topics, (str, os.PathLike)):
        return _existing(topics)
    pairs = topics.items() if isinstance(topics, Mapping) else _rows(topics, TOPIC, TEXT)
    lines = [f"{_identifier(topic)}\t{' '.join(str(text).split())}\n" for topic, text in pairs]
    return _write(folder / "topics.tsv", lines)


def qrels_file(qrels: Table, folder: pathlib.Path) -> pathlib.Path:
    """Returns a file of judgements, written to the folder unless ``qrels`` is a path."""
    if isinstance(qrels, (str, os.PathLike)):
        return _existing(qrels)
    rows = _rows(qrels, TOPIC, DOCUMENT, GRADE)
    lines = [f"{_identifier(topic)}\t0\t{_identifier(document)}\t{int(grade)}\n" for topic, document, grade in rows]
    return _write(folder / "qrels.txt", lines)


def run_file(name: str, run: Table, folder: pathlib.Path) -> pathlib.Path:
    """Returns a file of a run, written to the folder unless ``run`` is a path. Its stem is the name of the run."""
    if isinstance(run, (str, os.PathLike)):
        return _existing(run)
    if not name or "/" in name or name.startswith("."):
        raise LodeseekError(f"{name!r} cannot be the name of a run; use a name without slash that does not begin with a dot")
    rows = _rows(run, TOPIC, DOCUMENT, ("score",))
    tag = "-".join(name.split())
    lines = [f"{_identifier(topic)}\tQ0\t{_identifier(document)}\t0\t{float(score)!r}\t{tag}\n" for topic, document, score in rows]
    return _write(folder / f"{name}.run", lines)


def read_run(text: str) -> List[Tuple[str, str, float, int]]:
    """Returns topic, dataset, score and rank of each line of a run."""
    rows = []
    for line in text.splitlines():
        topic, _, dataset, rank, score, _ = line.split("\t")
        rows.append((topic, dataset, float(score), int(rank)))
    return rows


def _existing(path: PathLike) -> pathlib.Path:
    found = pathlib.Path(path)
    if not found.is_file():
        raise LodeseekError(f"there is no file {found}; pass the path of a file, a mapping or a DataFrame")
    return found.resolve()


def _write(path: pathlib.Path, lines: Iterable[str]) -> pathlib.Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _identifier(value: Any) -> str:
    text = str(value)
    if not text or text.split() != [text]:
        raise LodeseekError(f"{text!r} cannot be an identifier in a file of TREC's formats; use one without white space")
    return text


def _rows(table: Any, *columns: Sequence[str]) -> List[Tuple[Any, ...]]:
    """Returns the values of a DataFrame in columns that may have several names."""
    if not hasattr(table, "columns"):
        raise LodeseekError(f"{type(table).__name__} is not supported here; pass the path of a file, a mapping or a DataFrame")
    chosen = []
    for names in columns:
        found = [name for name in names if name in table.columns]
        if not found:
            raise LodeseekError(f"the DataFrame has no column {' or '.join(names)}; its columns are {', '.join(map(str, table.columns))}")
        chosen.append(table[found[0]])
    return list(zip(*chosen))
