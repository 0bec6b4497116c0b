"""The client: one home, commands of the program, and a private server for requests."""

import html
import json
import os
import pathlib
import tempfile
import threading
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote

from ._errors import IncompleteLoad, LodeseekError, require
from ._evaluation import MEASURES, Evaluation, evaluate
from ._files import Table, Topics, read_run, topics_file
from ._program import PathLike, run_program
from ._results import Hit, Hits, SvgDrawing, snippet_graph, table_frame
from ._server import PrivateServer
from ._sparql import table

if TYPE_CHECKING:
    import pandas
    import rdflib

PAGE = 100
TRUNCATED = "Lodeseek-Truncated"
SPARQL_RESULTS = "application/sparql-results+json"
Filters = Mapping[str, Union[str, int, Sequence[str]]]
Settings = Mapping[str, Union[str, int, bool]]


class Lodeseek:
    """A home: the folder of a collection.

    Requests start a private server, which only reads. It ends with ``close``, with the ``with`` block, or with this process. ``load``
    and ``index`` end it before they change the home; the next request starts it again.
    """

    def __init__(self, home: PathLike, *, program: Optional[PathLike] = None, serve_options: Sequence[str] = (),
                 settings: Optional[Settings] = None) -> None:
        self.home = pathlib.Path(home)
        self._program, self._options, self._settings = program, list(serve_options), dict(settings or {})
        self._server: Optional[PrivateServer] = None
        self._lock = threading.RLock()

    @classmethod
    def open(cls, home: PathLike, *, ranking: Optional[str] = None, services: Sequence[str] = (), program: Optional[PathLike] = None,
             serve_options: Sequence[str] = (), settings: Optional[Settings] = None) -> "Lodeseek":
        """Opens a home, which ``load`` creates if it does not exist.

        ``ranking`` is words, balanced or best; without it, the collection is ranked as indexed. ``services`` lists the endpoints that
        SERVICE may query. ``serve_options`` are further options of ``lodeseek serve``. ``settings`` are keys of the configuration with
        values, such as ``{"sparql.deadline": 300}``. They precede the configuration of the home, for its requests only.
        """
        options = ["--ranking", ranking] if ranking else []
        for service in services:
            options += ["--service", service]
        return cls(home, program=program, serve_options=[*options, *serve_options], settings=settings)

    def __enter__(self) -> "Lodeseek":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Lodeseek({str(self.home)!r})"

    def close(self) -> None:
        """Ends the private server, if it runs."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None

    @property
    def url(self) -> str:
        """Address of the private server, which is started if necessary. Its pages can be opened in a browser."""
        return self._serve().url

    def _serve(self) -> PrivateServer:
        with self._lock:
            if self._server is not None and not self._server.is_running:
                self.close()
            if self._server is None:
                self._server = PrivateServer(self.home, program=self._program, options=self._options, settings=self._settings)
            return self._server

    def command(self, *arguments: PathLike, stdin: Optional[str] = None, accepted: Sequence[int] = (0,)) -> str:
        """Runs a command of the program on this home and returns its output.

        >>> print(collection.command("show", "street-trees").splitlines()[0])
        City tree register  [street-trees]
        """
        return run_program(["--home", self.home, *arguments], program=self._program, stdin=stdin, accepted=accepted).stdout

    # -- Changes

    def load(self, *sources: PathLike, dumps: Optional[PathLike] = None, id_prefix: str = "") -> List[Dict[str, Any]]:
        """Loads catalogues, RDF files or folders of them, and returns the outcome of each dataset.

        ``dumps`` is a folder of dumps named after the ids of the datasets. Files that cannot be read completely give the warning
        IncompleteLoad; the outcome lists them. Raises LodeseekError if nothing can be loaded. If another server with ``--admin`` runs on
        the home, it loads the sources, and at most 1,000 outcomes are returned, those with problems first.
        """
        self.close()
        options = ["--dumps", os.fspath(dumps)] if dumps else []
        options += ["--id-prefix", id_prefix] if id_prefix else []
        with tempfile.TemporaryDirectory(prefix="lodeseek-") as folder:
            report = pathlib.Path(folder) / "report.json"
            command = ["--home", self.home, "load", *sources, *options, "--report", report]
            done = run_program(command, program=self._program, accepted=(0, 1))
            outcomes = json.loads(report.read_text(encoding="utf-8"))["datasets"]
        if done.returncode == 1:
            warnings.warn(done.stderr.strip().removeprefix("lodeseek: "), IncompleteLoad, stacklevel=2)
        return outcomes

    def index(self, *, ranking: Optional[str] = None, rebuild: bool = False, options: Sequence[str] = ()) -> None:
        """Indexes the datasets that changed, or all.

        ``ranking`` is words, balanced or best, and is recorded; best also makes vectors. ``options`` are further options of ``lodeseek
        index``.
        """
        self.close()
        arguments = ["--ranking", ranking] if ranking else []
        arguments += ["--rebuild"] if rebuild else []
        self.command("index", *arguments, *options)

    # -- Requests

    def hits(self, query: str, k: int = 10, *, model: Optional[str] = None, snippet: Optional[str] = None,
             filters: Optional[Filters] = None) -> Hits:
        """Searches datasets and returns the ``k`` best, for display in a notebook.

        ``model`` ranks by tf-idf, bm25, lmd or fsdm alone. ``snippet`` is a method of snippets that are computed for the query.
        ``filters`` restrict the datasets, for example ``{"class": "foaf:Person", "before": 2020}``; several values of one filter are
        alternatives.

        >>> for hit in collection.hits("limestone aquifer drinking water", k=1):
        ...     print(hit.id, hit.matched["literal"])
        boreholes ['limestone', 'aquifer', 'drinking', 'water']
        """
        parameters = _search_parameters(query, model, snippet, filters)
        # Computed snippets are limited to ten hits of one request.
        page = PAGE if snippet is None else 10
        found: List[Hit] = []
        while True:
            size = min(page, k - len(found))
            response = self.get("/api/search", [*parameters, ("k", size), ("skip", len(found))])
            found += [Hit.from_json(hit) for hit in response["hits"]]
            if len(found) >= k or len(response["hits"]) < size:
                return Hits(query, found, response["good"], response["weak"], _suggestion(response), _suggested_filters(response))

    def search(self, query: str, k: int = 10, *, model: Optional[str] = None, filters: Optional[Filters] = None) -> "pandas.DataFrame":
        """Searches datasets and returns the ``k`` best as a DataFrame, one row a dataset. Parameters are those of ``hits``.

        >>> collection.search("whaling ship logbook", k=1)[["rank", "id", "year"]]
           rank            id  year
        0     1  port-library  2016
        """
        require("pandas", "pandas")
        return self.hits(query, k, model=model, filters=filters).to_frame()

    def snippet(self, dataset: str, budget: int = 20, *, query: Optional[str] = None, method: Optional[str] = None) -> "rdflib.Graph":
        """Returns at most ``budget`` triples that represent a dataset as an rdflib Graph, which a notebook displays as a drawing.

        With ``query``, the triples should also contain its words.

        >>> len(collection.snippet("street-trees", budget=5))
        5
        """
        require("rdflib", "rdf")
        path, parameters = self._snippet_request(dataset, budget, query, method)
        triples = self.get(path, [*parameters, ("format", "json")])["triples"]
        return snippet_graph(triples, self.drawing(dataset, budget, query=query, method=method))

    def rows(self, dataset: str, limit: int = 20, *, query: Optional[str] = None) -> "pandas.DataFrame":
        """Returns at most ``limit`` rows of a table as a DataFrame, from 1 to 100: rows with a word of ``query``, else the first ones.

        ``DataFrame.attrs`` has the name of the table (``title``) and the number of all rows (``all_rows``); with a query, also the
        number of all rows with one of its words (``matching_rows``). A dataset that is no table is an error.
        """
        require("pandas", "pandas")
        path, parameters = self._snippet_request(dataset, None, query, None)
        table = self.get(path, [*parameters, ("rows", limit), ("format", "json")]).get("table")
        if table is None:
            raise LodeseekError(f"the dataset {dataset} is no table; `snippet` returns its triples")
        return table_frame(table)

    def drawing(self, dataset: str, budget: int = 20, *, query: Optional[str] = None, method: Optional[str] = None) -> SvgDrawing:
        """Returns the drawing of a snippet as SVG."""
        path, parameters = self._snippet_request(dataset, budget, query, method)
        svg, _ = self._serve().request(path, [*parameters, ("format", "svg")], accept="image/svg+xml")
        return SvgDrawing(svg)

    @staticmethod
    def _snippet_request(dataset: str, budget: Optional[int], query: Optional[str],
                         method: Optional[str]) -> Tuple[str, List[Tuple[str, Union[str, int]]]]:
        parameters: List[Tuple[str, Union[str, int]]] = []
        if budget is not None:
            parameters.append(("budget", budget))
        if query is not None:
            parameters.append(("query", query))
        if method is not None:
            parameters.append(("method", method))
        return f"/dataset/{quote(dataset, safe='')}/snippet", parameters

    def similar(self, dataset: str, k: int = 10) -> "pandas.DataFrame":
        """Returns the most similar datasets as a DataFrame.

        >>> list(collection.similar("street-trees", k=1).columns)
        ['rank', 'id', 'title', 'score', 'triples']
        """
        pandas = require("pandas", "pandas")
        response = self.get(f"/dataset/{quote(dataset, safe='')}/similar", [("k", k), ("format", "json")])
        rows = [(rank, one["id"], one["title"], one["score"], one["triples"]) for rank, one in enumerate(response["similar"], 1)]
        return pandas.DataFrame(rows, columns=["rank", "id", "title", "score", "triples"])

    def query(self, sparql: str) -> Union["pandas.DataFrame", "rdflib.Graph", bool]:
        """Evaluates a SPARQL query: SELECT returns a DataFrame, ASK a bool, CONSTRUCT and DESCRIBE an rdflib Graph.

        Numbers and booleans become Python values by their datatype, unbound variables are missing values. A truncated result is an error.

        >>> collection.query("PREFIX dcat: <http://www.w3.org/ns/dcat#> SELECT (COUNT(*) AS ?datasets) { ?dataset a dcat:Dataset }")
           datasets
        0        12
        """
        accept = f"{SPARQL_RESULTS}, application/n-triples;q=0.9"
        text, headers = self._serve().request("/sparql", accept=accept, body=sparql, headers={"Content-Type": "application/sparql-query"})
        if headers.get_content_type() == "application/n-triples":
            _check_complete(headers.get(TRUNCATED) or _last_comment(text))
            return require("rdflib", "rdf").Graph().parse(data=text, format="nt")
        results = json.loads(text)
        _check_complete(headers.get(TRUNCATED) or results.get(TRUNCATED))
        if "boolean" in results:
            return results["boolean"]
        pandas = require("pandas", "pandas")
        columns, rows = table(results)
        series = {name: _series(pandas, [row[place] for row in rows]) for place, name in enumerate(columns)}
        return pandas.DataFrame(series, columns=columns)

    def datasets(self) -> "pandas.DataFrame":
        """Returns all datasets as a DataFrame: id, title, number of triples, state, time of the last change."""
        pandas = require("pandas", "pandas")
        return pandas.DataFrame(json.loads(self.command("list", "--json")), columns=["id", "title", "triples", "state", "modified"])

    def status(self) -> Dict[str, Any]:
        """Returns the state of the collection: numbers, index, vectors, sizes.

        >>> collection.status()["datasets"]
        12
        """
        return json.loads(self.command("status", "--json"))

    def show(self, dataset: str) -> Dict[str, Any]:
        """Returns metadata, profile and stored snippet of a dataset."""
        return json.loads(self.command("show", dataset, "--json"))

    # -- Experiments

    def run(self, topics: Topics, *, depth: int = 100, options: Sequence[str] = ()) -> "pandas.DataFrame":
        """Ranks the datasets for topics and returns a run as a DataFrame: ``qid``, ``docno``, ``score``, ``rank`` from 1.

        ``topics`` is a file, a mapping of ids to texts, or a DataFrame. ``options`` are those of ``lodeseek run``, for example
        ``["--model", "fsdm"]``.

        >>> collection.run({"q2": "ginkgo biloba"}, options=["--model", "bm25"])[["qid", "docno", "rank"]]
          qid         docno  rank
        0  q2  street-trees     1
        """
        pandas = require("pandas", "pandas")
        return pandas.DataFrame(self.run_rows(topics, depth=depth, options=options), columns=["qid", "docno", "score", "rank"])

    def run_rows(self, topics: Topics, *, depth: int = 100, options: Sequence[str] = ()) -> List[Tuple[str, str, float, int]]:
        """Ranks the datasets for topics and returns topic, dataset, score and rank of each place."""
        with tempfile.TemporaryDirectory(prefix="lodeseek-") as folder:
            file = topics_file(topics, pathlib.Path(folder))
            return read_run(self.command("run", "--topics", file, "--depth", str(depth), *options))

    def evaluate(self, qrels: Table, runs: Union[Mapping[str, Table], Sequence[PathLike], PathLike], *,
                 measures: Sequence[str] = MEASURES, baseline: Union[str, Sequence[str], None] = None, test: str = "t",
                 correction: str = "holm", folds: Optional[PathLike] = None) -> Evaluation:
        """Measures runs against relevance judgements. Parameters are those of ``lodeseek.evaluate``."""
        return evaluate(qrels, runs, measures=measures, baseline=baseline, test=test, correction=correction, folds=folds,
                        program=self._program)

    # -- Other requests

    def get(self, path: str, parameters: Sequence[Tuple[str, Union[str, int]]] = ()) -> Dict[str, Any]:
        """Requests JSON of the HTTP API, for what has no method.

        >>> collection.get("/api/search", [("q", "ginkgo biloba"), ("facets", "true")])["total"]
        1
        """
        text, _ = self._serve().request(path, parameters)
        return json.loads(text)

    def _repr_html_(self) -> str:
        status = self.status()
        rows = [("home", status["home"]), ("datasets", f"{status['datasets']:,}"), ("triples", f"{status['triples']:,}"),
                ("vectors", ", ".join(one["model"] for one in status["vectors"]) or "none")]
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
                        for name, text in rows)
        return f"<table>{cells}</table>"


def _search_parameters(query: str, model: Optional[str], snippet: Optional[str],
                       filters: Optional[Filters]) -> List[Tuple[str, Union[str, int]]]:
    parameters: List[Tuple[str, Union[str, int]]] = [("q", query)]
    if model is not None:
        parameters.append(("model", model))
    if snippet is not None:
        parameters.append(("snippet", snippet))
    for name, values in (filters or {}).items():
        alternatives = [values] if isinstance(values, (str, int)) else values
        parameters += [(name, value) for value in alternatives]
    return parameters


def _suggestion(response: Mapping[str, Any]) -> Optional[str]:
    suggestion = response.get("suggestion")
    return suggestion.get("query") if isinstance(suggestion, dict) else suggestion


def _suggested_filters(response: Mapping[str, Any]) -> Dict[str, List[str]]:
    suggested: Dict[str, List[str]] = {}
    for one in response.get("suggestedFilters") or []:
        suggested.setdefault(one["parameter"], []).append(one["value"])
    return suggested


def _series(pandas, values: List[Any]):
    """Returns a column. Integers with missing values keep their type, as Int64, where they would become floats."""
    if None in values and all(type(value) is int and abs(value) < 2 ** 63 for value in values if value is not None):
        return pandas.Series(values, dtype="Int64")
    return pandas.Series(values, dtype=object).infer_objects()


def _check_complete(truncation: Optional[str]) -> None:
    """Raises LodeseekError if the server declared that a result is truncated."""
    if truncation:
        raise LodeseekError(f"the result is truncated: {truncation}; add LIMIT to the query, or open the home with "
                            "settings={'sparql.rows': N}")


def _last_comment(triples: str) -> Optional[str]:
    """Returns the last line of N-Triples if it is a comment."""
    last = triples.rstrip("\n").rpartition("\n")[2]
    return last.lstrip("# ") if last.startswith("#") else None
