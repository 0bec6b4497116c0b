"""Rankers of Lodeseek in PyTerrier: an index as artifact, retrievers, re-rankers, and a loader of texts."""

import os
import pathlib
import shutil
import tempfile
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union
from urllib.parse import quote

import pandas as pd
import pyterrier as pt
from lodeseek import Lodeseek

__all__ = ["LodeseekIndex", "LodeseekRanker", "LodeseekTextLoader", "artifact_metadata"]

DEPTH = 1000
MODEL = "lodeseek-minilm"
HOME_FILES = {"commit.json", "store", "graphs"}


def artifact_metadata(path: str, files: Sequence[str]) -> Optional[Dict[str, str]]:
    """Returns the metadata of a home that PyTerrier did not package, or None for other folders."""
    if HOME_FILES <= set(files):
        return {"type": LodeseekIndex.ARTIFACT_TYPE, "format": LodeseekIndex.ARTIFACT_FORMAT, "package_hint": "pyterrier-lodeseek"}
    return None


class LodeseekIndex(pt.Artifact, pt.Indexer):
    """A home of Lodeseek: datasets with metadata and content, indexed."""

    ARTIFACT_TYPE = "sparse_index"
    ARTIFACT_FORMAT = "lodeseek"
    ARTIFACT_PACKAGE_HINT = "pyterrier-lodeseek"

    def __init__(self, path: Union[str, "os.PathLike[str]"], *, ranking: Optional[str] = None, program: Optional[str] = None) -> None:
        """Opens a home. ``ranking`` is used by ``index``: words, balanced or best, which also makes vectors."""
        super().__init__(path)
        self.ranking = ranking
        self.collection = Lodeseek.open(path, program=program)

    def built(self) -> bool:
        """Returns true if the home exists."""
        return artifact_metadata(str(self.path), os.listdir(self.path) if os.path.isdir(self.path) else []) is not None

    def __len__(self) -> int:
        return int(self.collection.status()["datasets"])

    def index_inputs(self) -> List[List[str]]:
        return [["docno", "text"], ["docno", "title", "text"], ["docno", "path"]]

    def index(self, iter: Iterable[Dict[str, Any]], **_: Any) -> "LodeseekIndex":
        """Loads and indexes documents, each one dataset.

        ``docno`` is the id. ``title``, ``text`` (the description), ``keywords``, ``publisher`` and ``license`` are metadata; ``keywords`` may
        be a list. ``path`` names a file of RDF, ``rdf`` contains N-Triples: the content. Raises ValueError if the home exists already,
        or an id cannot be used.
        """
        if self.built():
            raise ValueError(f"{self.path} is a home already; open it without index(), or choose another folder")
        with tempfile.TemporaryDirectory(prefix="pyterrier-lodeseek-") as folder:
            work = pathlib.Path(folder)
            expected = _write_catalogue(iter, work)
            dumps = work / "dumps"
            outcomes = self.collection.load(work / "catalogue.nt", dumps=dumps if any(dumps.iterdir()) else None)
        triples = {outcome["id"]: outcome["triples"] for outcome in outcomes}
        different = set(expected) - set(triples)
        if different:
            raise ValueError(f"{len(different)} documents cannot keep their docno, for example {sorted(different)[0]!r}; use letters, "
                             "digits, dots, hyphens and underscores")
        unread = [docno for docno, has_content in expected.items() if has_content and not triples[docno]]
        if unread:
            raise ValueError(f"the content of {len(unread)} documents has no triples that can be read, for example of {unread[0]!r}")
        self.collection.index(ranking=self.ranking)
        return self

    # -- Rankers

    def retriever(self, options: Sequence[str] = (), num_results: int = DEPTH, *, name: str = "lodeseek") -> "LodeseekRanker":
        """Returns a ranker with options of ``lodeseek run``, such as ``["--model", "lmd", "--fields", "metadata"]``."""
        return LodeseekRanker(self, options, num_results, name=name)

    def tf_idf(self, num_results: int = DEPTH) -> "LodeseekRanker":
        return self.retriever(["--model", "tf-idf"], num_results, name="tf_idf")

    def bm25(self, num_results: int = DEPTH) -> "LodeseekRanker":
        """Returns fielded BM25."""
        return self.retriever(["--model", "bm25"], num_results, name="bm25")

    def lmd(self, num_results: int = DEPTH) -> "LodeseekRanker":
        return self.retriever(["--model", "lmd"], num_results, name="lmd")

    def fsdm(self, num_results: int = DEPTH) -> "LodeseekRanker":
        """Returns FSDM, the fielded sequential dependence model."""
        return self.retriever(["--model", "fsdm"], num_results, name="fsdm")

    def dense(self, num_results: int = DEPTH, *, model: str = MODEL) -> "LodeseekRanker":
        """Returns ranking by one vector a text. The home needs vectors of the model."""
        return _DenseRanker(self, ["--dpr", model, "--fusion", "none"], num_results, name="dense")

    def search(self, num_results: int = DEPTH, *, ranking: Optional[str] = None) -> "LodeseekRanker":
        """Returns the ranking of ``lodeseek search``: words, balanced or best; by default as indexed."""
        return self.retriever(["--ranking", ranking] if ranking else [], num_results, name="search")

    # -- Texts

    def text_loader(self, budget: int = 20) -> "LodeseekTextLoader":
        """Returns a transformer that adds ``title`` and ``text``: metadata and at most ``budget`` triples of the content."""
        return LodeseekTextLoader(self, budget)

    def get_corpus_iter(self, budget: int = 20) -> Iterator[Dict[str, str]]:
        """Iterates over all documents as compact documents: ``docno``, ``title``, ``text``."""
        for docno in self.collection.datasets()["id"]:
            yield {"docno": docno, **self.compact_document(docno, budget)}

    def compact_document(self, docno: str, budget: int = 20) -> Dict[str, str]:
        """Returns title and text of a dataset. The text has the metadata, then the labels of the triples of a snippet."""
        return {"title": _metadata(self.collection, docno)["title"], "text": _text(self.collection, docno, budget)}


class LodeseekRanker(pt.Transformer):
    """A ranking of ``lodeseek run``. Frames with ``docno`` are re-ranked, others are retrieved.

    A re-ranked document that the ranking does not contain, because it has no word of the query, gets the lowest score of its query less
    1. So it is ranked after all others.
    """

    def __init__(self, index: LodeseekIndex, options: Sequence[str], num_results: int, *, name: str) -> None:
        super().__init__()
        if num_results < 1:
            raise ValueError(f"num_results is {num_results}; it must be at least 1")
        self.index, self.options, self.num_results, self.name = index, list(options), num_results, name

    def __repr__(self) -> str:
        return f"LodeseekRanker({self.name}, num_results={self.num_results})"

    def fuse_rank_cutoff(self, k: int) -> pt.Transformer:
        """Returns the ranker with at most ``k`` results; PyTerrier calls it for ``ranker % k``."""
        if k >= self.num_results:
            return self
        return type(self)(self.index, self.options, k, name=self.name)

    def _options(self, depth: int) -> List[str]:
        """Returns the options for a number of results."""
        return self.options

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        with pt.validate.any(inp, context=self) as mode:
            mode.columns(includes=["qid", "query", "docno"], mode="rerank")
            mode.columns(includes=["qid", "query"], excludes=["docno"], mode="retrieve")
        inp = _with_queries(inp)
        if mode.mode == "rerank":
            return self._rerank(inp)
        return self._retrieve(inp)

    def _rankings(self, inp: pd.DataFrame, depth: int) -> pd.DataFrame:
        """Ranks the queries of a frame: ``qid``, ``docno``, ``score``, ``rank`` from 0."""
        queries = inp[["qid", "query"]].drop_duplicates("qid")
        # Numbers instead of qids, which may contain white space.
        qids = dict(zip(map(str, range(len(queries))), queries["qid"]))
        topics = {number: text for number, text in zip(qids, queries["query"]) if text.strip()}
        rows = self.index.collection.run_rows(topics, depth=depth, options=self._options(depth)) if topics else []
        rows = sorted(((int(topic), rank - 1, docno, score) for topic, docno, score, rank in rows), key=lambda row: row[:2])
        found = [(qids[str(topic)], docno, score, rank) for topic, rank, docno, score in rows]
        return pd.DataFrame(found, columns=["qid", "docno", "score", "rank"]).astype({"score": float, "rank": int})

    def _retrieve(self, inp: pd.DataFrame) -> pd.DataFrame:
        ranked = self._rankings(inp, self.num_results)
        if ranked.empty:
            ranked = ranked.astype({"qid": inp["qid"].dtype})
        columns = inp.drop(columns=["score", "rank"], errors="ignore").drop_duplicates("qid")
        return columns.merge(ranked, on="qid", how="inner", sort=False)

    def _rerank(self, inp: pd.DataFrame) -> pd.DataFrame:
        result = inp.drop(columns=["score", "rank"], errors="ignore").reset_index(drop=True)
        ranked = self._rankings(inp, max(1, len(self.index)))
        scores = {(qid, docno): score for qid, docno, score in zip(ranked["qid"], ranked["docno"], ranked["score"])}
        lowest = ranked.groupby("qid")["score"].min().to_dict()
        result["score"] = [scores.get(pair, lowest.get(pair[0], 0.0) - 1.0) for pair in zip(result["qid"], result["docno"])]
        return pt.model.add_ranks(result)


def _with_queries(inp: pd.DataFrame) -> pd.DataFrame:
    """Returns the frame with the query of its topic in each row.

    Operators such as ``A + B`` leave rows without a query: they get that of another row of the same topic. Raises ValueError if a topic has no
    query in any row, and TypeError if a query is no text.
    """
    queries: Dict[Any, str] = {}
    missing: Dict[Any, None] = {}
    for qid, query in zip(inp["qid"], inp["query"]):
        if isinstance(query, str):
            if not queries.get(qid, "").strip():
                queries[qid] = query
        elif pd.api.types.is_scalar(query) and pd.isna(query):
            missing[qid] = None
        elif isinstance(query, int) and not isinstance(query, bool):
            queries.setdefault(qid, str(query))
        else:
            raise TypeError(f"topic {qid!r}: the query is {query!r}, which is no text")
    unknown = [qid for qid in missing if qid not in queries]
    if unknown:
        raise ValueError(f"{len(unknown)} topics have no query, for example {unknown[0]!r}; add the column `query` of the topics to the results, "
                         "for example by `results.drop(columns='query').merge(topics[['qid', 'query']], on='qid')`")
    return inp.assign(query=[queries[qid] for qid in inp["qid"]])


class _DenseRanker(LodeseekRanker):
    """Ranking by vectors alone: all results are the nearest vectors, not candidates of words."""

    def _options(self, depth: int) -> List[str]:
        return [*self.options, "--dense-depth", str(depth)]


class LodeseekTextLoader(pt.Transformer):
    """Adds ``title`` and ``text`` of the datasets to frames with ``docno``."""

    def __init__(self, index: LodeseekIndex, budget: int) -> None:
        super().__init__()
        self.index, self.budget = index, budget

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.columns(inp, includes=["docno"], context=self)
        documents = {docno: self.index.compact_document(docno, self.budget) for docno in inp["docno"].unique()}
        texts = {name: [documents[docno][name] for docno in inp["docno"]] for name in ("title", "text")}
        return inp.assign(**texts)


def _metadata(collection: Lodeseek, docno: str) -> Dict[str, Any]:
    return collection.get("/api/3/action/package_show", [("id", docno)])["result"]


def _text(collection: Lodeseek, docno: str, budget: int) -> str:
    """Returns the compact document: title, description and keywords, then one sentence a triple."""
    metadata = _metadata(collection, docno)
    keywords = ", ".join(tag["name"] for tag in metadata.get("tags") or [])
    parts = [metadata["title"], metadata.get("notes") or "", keywords]
    if budget > 0:
        snippet = collection.get(f"/dataset/{quote(docno, safe='')}/snippet", [("budget", budget), ("format", "json")])
        for triple in snippet["triples"]:
            parts.append(" ".join(triple[part]["label"] for part in ("subject", "predicate", "object")))
    return ". ".join(part.strip().rstrip(".") for part in parts if part.strip()) + "."


# -- A catalogue in DCAT, as N-Triples

DCAT = "http://www.w3.org/ns/dcat#"
DCT = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def _write_catalogue(documents: Iterable[Dict[str, Any]], folder: pathlib.Path) -> Dict[str, bool]:
    """Writes the documents as a catalogue with files of their content, and returns for each id if it has content."""
    ids: Dict[str, bool] = {}
    (folder / "dumps").mkdir()
    with open(folder / "catalogue.nt", "w", encoding="utf-8") as out:
        for number, document in enumerate(documents):
            docno = str(document["docno"])
            if docno in ids:
                raise ValueError(f"two documents have the docno {docno!r}")
            for line in _description(document, number):
                out.write(line + "\n")
            ids[docno] = _add_content(document, folder / "dumps" / quote(docno, safe=""))
    return ids


def _description(document: Dict[str, Any], number: int) -> Iterator[str]:
    subject = f"<urn:docno:{quote(str(document['docno']), safe='')}>"
    yield f"{subject} <{TYPE}> <{DCAT}Dataset> ."
    yield f"{subject} <{DCT}identifier> {_literal(document['docno'])} ."
    yield f"{subject} <{DCT}title> {_literal(document.get('title') or document['docno'])} ."
    for name, predicate in [("text", DCT + "description"), ("license", DCT + "license")]:
        if document.get(name):
            yield f"{subject} <{predicate}> {_literal(document[name])} ."
    keywords = document.get("keywords") or []
    for keyword in [keywords] if isinstance(keywords, str) else keywords:
        yield f"{subject} <{DCAT}keyword> {_literal(keyword)} ."
    if document.get("publisher"):
        yield f"{subject} <{DCT}publisher> _:p{number} ."
        yield f"_:p{number} <{FOAF}name> {_literal(document['publisher'])} ."


def _add_content(document: Dict[str, Any], folder: pathlib.Path) -> bool:
    """Adds the content of a document to the folder of its dumps. Returns false if it has none."""
    if not document.get("path") and not document.get("rdf"):
        return False
    folder.mkdir()
    if document.get("path"):
        path = pathlib.Path(document["path"])
        if not path.is_file():
            raise ValueError(f"document {document['docno']!r}: there is no file {path}")
        _link_or_copy(path, folder / path.name)
    if document.get("rdf"):
        (folder / "rdf.nt").write_text(document["rdf"], encoding="utf-8")
    return True


def _link_or_copy(source: pathlib.Path, target: pathlib.Path) -> None:
    """Links a file, or copies it to another file system. The program does not follow symbolic links in a folder of dumps."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}


def _literal(value: Any) -> str:
    return '"' + "".join(ESCAPES.get(character, character) for character in str(value)) + '"'
