"""Test collections of dataset search in ir_datasets, read from folders on this machine. Nothing is bundled or downloaded.

Each function registers datasets below ``lodeseek/`` and returns the one with all topics. Documents, topics, judgements and folds are
parts that may be missing, as everywhere in ir_datasets.
"""

import json
import pathlib
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Union

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericQuery, TrecQrel, TsvQueries
from ir_datasets.indices import Docstore
from ir_datasets.util import LocalDownload

__all__ = ["DatasetDoc", "QuestionQuery", "register_acordar", "register_acordar2", "register_collection", "register_datafinder"]

PREFIX = "lodeseek"
GRADES = {0: "irrelevant", 1: "partially relevant", 2: "highly relevant"}
SOURCES = {
    "acordar": "https://github.com/nju-websoft/ACORDAR",
    "acordar2": "https://github.com/nju-websoft/ACORDAR-2",
    "datafinder": "https://github.com/viswavi/datafinder",
}
Folder = Union[str, pathlib.Path]


class DatasetDoc(NamedTuple):
    """Metadata of a dataset."""

    doc_id: str
    title: str
    description: str
    keywords: List[str]
    json: str
    """All metadata as in the source."""

    def default_text(self) -> str:
        """Returns title, description and keywords."""
        return " ".join([self.title, self.description, *self.keywords]).strip()


class QuestionQuery(NamedTuple):
    """A topic with other forms."""

    query_id: str
    text: str
    other_forms: List[str]
    """Questions of ACORDAR 2, keyphrases of DataFinder."""

    def default_text(self) -> str:
        return self.text


class _Documents(BaseDocs):
    """Documents of a JSON file, which fits in memory: metadata of thousands of datasets."""

    def __init__(self, file: LocalDownload, read: Callable[[str], Iterator[DatasetDoc]]) -> None:
        self._file, self._read = file, read
        self._documents: Optional[Dict[str, DatasetDoc]] = None

    def _load(self) -> Dict[str, DatasetDoc]:
        if self._documents is None:
            documents: Dict[str, DatasetDoc] = {}
            for document in self._read(self._file.path().read_text(encoding="utf-8")):
                # A repeated id is the same dataset; the first entry counts.
                documents.setdefault(document.doc_id, document)
            self._documents = documents
        return self._documents

    def docs_path(self, force: bool = True):
        return self._file.path(force)

    def docs_iter(self):
        return iter(self._load().values())

    def docs_cls(self):
        return DatasetDoc

    def docs_store(self, field: str = "doc_id", options=None):
        return _Store(self._load())

    def docs_count(self):
        return len(self._load())

    def docs_namespace(self):
        return PREFIX

    def docs_lang(self):
        return None


class _Store(Docstore):
    def __init__(self, documents: Dict[str, DatasetDoc]) -> None:
        super().__init__(DatasetDoc)
        self._documents = documents

    def get_many_iter(self, doc_ids):
        return (self._documents[doc_id] for doc_id in doc_ids if doc_id in self._documents)


class _Queries(BaseQueries):
    """Topics of a JSON file."""

    def __init__(self, file: LocalDownload, read: Callable[[str], Iterator[QuestionQuery]]) -> None:
        self._file, self._read = file, read

    def queries_path(self):
        return self._file.path()

    def queries_iter(self):
        return self._read(self._file.path().read_text(encoding="utf-8"))

    def queries_cls(self):
        return QuestionQuery

    def queries_namespace(self):
        return PREFIX

    def queries_lang(self):
        return "en"


class _Qrels(BaseQrels):
    """Judgements in TREC's format, with or without a header."""

    def __init__(self, file: LocalDownload) -> None:
        self._file = file

    def qrels_path(self):
        return self._file.path()

    def qrels_iter(self):
        path = self._file.path()
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            columns = line.split()
            if not columns or (number == 1 and columns[-1] == "Relevance"):
                continue
            if len(columns) != 4:
                raise ValueError(f"{path}, line {number}: {len(columns)} columns where 4 are expected: topic, 0, dataset, grade")
            yield TrecQrel(columns[0], columns[2], int(columns[3]), columns[1])

    def qrels_cls(self):
        return TrecQrel

    def qrels_defs(self):
        return GRADES


# -- Collections

def register_collection(name: str, folder: Folder, *, catalog: Optional[Folder] = None) -> Dataset:
    """Registers ``lodeseek/NAME``: ``queries.tsv`` (id, tab, text), ``qrels.txt`` and ``folds/`` of a folder.

    ``catalog`` is a catalogue in the form of ACORDAR's ``datasets.json``; by default ``datasets.json`` of the folder, if it exists.
    """
    folder = pathlib.Path(folder)
    queries = TsvQueries(_local(folder / "queries.tsv", name), GenericQuery, namespace=PREFIX, lang=None)
    return _register(name, folder, _documents(name, folder, catalog), queries, folder / "qrels.txt")


def register_acordar(folder: Folder, *, catalog: Optional[Folder] = None) -> Dataset:
    """Registers ACORDAR 1.0 as ``lodeseek/acordar``, from the files of its repository."""
    return register_collection("acordar", folder, catalog=catalog)


def register_acordar2(folder: Folder, *, catalog: Optional[Folder] = None) -> Dataset:
    """Registers ACORDAR 2.0: ``lodeseek/acordar2`` has keyword queries, ``lodeseek/acordar2/questions`` also their questions."""
    folder = pathlib.Path(folder)
    found = register_collection("acordar2", folder, catalog=catalog)
    questions = _Queries(_local(folder / "question_queries.json", "acordar2"), _acordar_questions)
    _register("acordar2/questions", folder, _documents("acordar2", folder, catalog), questions, folder / "qrels.txt", folds=False)
    return found


def register_datafinder(folder: Folder, *, queries: str = "dev.jsonl", qrels: str = "dev.qrels") -> Dataset:
    """Registers DataFinder as ``lodeseek/datafinder``; topics are sentences, with their keyphrases as other form."""
    folder = pathlib.Path(folder)
    documents = _Documents(_local(folder / "collection.jsonl", "datafinder"), _datafinder_documents)
    topics = _Queries(_local(folder / queries, "datafinder"), _datafinder_queries)
    return _register("datafinder", folder, documents, topics, folder / qrels)


def _register(name: str, folder: pathlib.Path, documents: Optional[BaseDocs], queries: BaseQueries, qrels: pathlib.Path,
              folds: bool = True) -> Dataset:
    """Registers a dataset and its folds. A dataset of the same name is an error of ir_datasets."""
    shared = [part for part in (documents, queries) if part is not None]
    judged = [_Qrels(_local(qrels, name))] if qrels.exists() else []
    registered = f"{PREFIX}/{name}"
    ir_datasets.registry.register(registered, Dataset(*shared, *judged))
    for file in sorted((folder / "folds").glob("fold*.*.qrels")) if folds else []:
        fold, part, _ = file.name.split(".")
        ir_datasets.registry.register(f"{registered}/{fold}/{part}", Dataset(*shared, _Qrels(_local(file, name))))
    return ir_datasets.load(registered)


def _documents(name: str, folder: pathlib.Path, catalog: Optional[Folder]) -> Optional[_Documents]:
    path = pathlib.Path(catalog) if catalog else folder / "datasets.json"
    return _Documents(_local(path, name), _acordar_documents) if catalog or path.exists() else None


def _local(path: pathlib.Path, name: str) -> LocalDownload:
    source = SOURCES.get(name.split("/")[0])
    return LocalDownload(path, f"{path} does not exist; its source is {source}" if source else f"{path} does not exist", mkdir=False)


# -- Formats

def _acordar_documents(text: str) -> Iterator[DatasetDoc]:
    entries = json.loads(text)
    for entry in entries["datasets"] if isinstance(entries, dict) else entries:
        tags = entry.get("tags") or []
        keywords = [tag.strip() for tag in (tags.split(";") if isinstance(tags, str) else tags)]
        yield DatasetDoc(str(entry["dataset_id"]), _present(entry.get("title")), _present(entry.get("description")),
                         [keyword for keyword in keywords if _present(keyword)], json.dumps(entry, ensure_ascii=False))


def _present(value: Any) -> str:
    """Returns a text; ACORDAR writes missing ones as null or "None"."""
    return "" if value in (None, "None") else str(value)


def _acordar_questions(text: str) -> Iterator[QuestionQuery]:
    for entry in json.loads(text):
        yield QuestionQuery(str(entry["query_id"]), entry["query_text"], list(entry["questions"]))


def _datafinder_documents(text: str) -> Iterator[DatasetDoc]:
    # JSON may contain U+2028, which splitlines() splits at.
    for line in filter(None, text.split("\n")):
        entry = json.loads(line)
        # The published judgements have underscores for spaces.
        yield DatasetDoc("_".join(entry["id"].split()), entry["id"], entry.get("contents") or "", list(entry.get("variants") or []), line)


def _datafinder_queries(text: str) -> Iterator[QuestionQuery]:
    # JSON may contain U+2028, which splitlines() splits at.
    for line in filter(None, text.split("\n")):
        entry = json.loads(line)
        # The ids of the published judgements are the sentences.
        yield QuestionQuery("_".join(entry["query"].split()), entry["query"], [entry["keyphrase_query"]])
