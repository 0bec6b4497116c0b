"""Results that notebooks display: hits as HTML, snippets as SVG."""

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, overload

from ._errors import LodeseekError, require

if TYPE_CHECKING:
    import pandas
    import rdflib

COLUMNS = ["rank", "id", "title", "score", "year", "triples", "license", "creators", "description", "matched", "match", "closest"]


@dataclass(frozen=True)
class Hit:
    """A dataset found by a search."""

    rank: int
    """Rank from 1."""
    id: str
    title: str
    score: Optional[float]
    triples: int
    """Number of distinct triples of the content; 0 without content."""
    description: Optional[str] = None
    year: Optional[int] = None
    license: Optional[str] = None
    creators: List[str] = field(default_factory=list)
    matched: Dict[str, List[str]] = field(default_factory=dict)
    """Matching words by field."""
    match: str = "weak"
    """``good`` if the dataset is likely relevant, else ``weak``."""
    closest: bool = False
    """If true, the dataset is no close match, only one of the nearest results."""
    snippet: List[Dict[str, Any]] = field(default_factory=list)
    """Triples with ``subject``, ``predicate``, ``object``; each term has ``type``, ``value`` and ``label``."""
    table: Optional[Dict[str, Any]] = None
    """Rows of a table, if the content is one: ``title``, ``columns``, ``rows`` and the numbers of all rows and columns."""
    json: Dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The hit as the server returned it."""

    @classmethod
    def from_json(cls, hit: Dict[str, Any]) -> "Hit":
        matched = {part["field"]: part.get("terms", []) for part in hit.get("fields") or []}
        creators = [creator.get("name") or creator.get("iri", "") for creator in hit.get("creators") or []]
        return cls(rank=hit["rank"], id=hit["id"], title=hit["title"], score=hit["score"], triples=hit["triples"],
                   description=hit.get("description"), year=hit.get("year"), license=hit.get("license"), creators=creators,
                   matched=matched, match=hit.get("match", "weak"), closest=bool(hit.get("closest")), snippet=hit.get("snippet") or [],
                   table=hit.get("table"), json=hit)

    def row(self) -> Dict[str, Any]:
        """Returns the hit as a row of the DataFrame of ``Lodeseek.search``."""
        matched = "; ".join(f"{name}: {', '.join(words)}" for name, words in self.matched.items())
        row = {name: getattr(self, name) for name in COLUMNS}
        return {**row, "creators": "; ".join(self.creators), "matched": matched}


class Hits(Sequence[Hit]):
    """The hits of a search, best first. A notebook displays them with their snippets.

    ``good`` is the number of datasets found that are likely relevant, ``weak`` that of the others.

    ``suggested_filters`` are filters by period and area that words of the query suggest, by parameter, for example
    ``{"covers": ["2010..2015"]}``. They are not applied; the argument ``filters`` of a search has the same form.
    """

    def __init__(self, query: str, hits: Sequence[Hit], good: int, weak: int, suggestion: Optional[str] = None,
                 suggested_filters: Optional[Dict[str, List[str]]] = None) -> None:
        self.query, self.good, self.weak, self.suggestion = query, good, weak, suggestion
        self.suggested_filters = suggested_filters or {}
        self._hits = list(hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> List[Hit]: ...

    def __getitem__(self, place):
        return self._hits[place]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    @property
    def total(self) -> int:
        """Number of datasets found, good and weak."""
        return self.good + self.weak

    def _counts(self) -> str:
        good = f"{self.good or 'No'} good {'match' if self.good < 2 else 'matches'}"
        return f"{good}, {self.weak} weaker" if self.weak else good

    def __repr__(self) -> str:
        lines = [f"{hit.rank:>3}. {hit.title}  [{hit.id}] {_number(hit.score)}" for hit in self._hits]
        return "\n".join([f"{self._counts()} for {self.query!r}", *lines])

    def to_frame(self) -> "pandas.DataFrame":
        """Returns the hits as a pandas DataFrame, one row a hit."""
        pandas = require("pandas", "pandas")
        return pandas.DataFrame([hit.row() for hit in self._hits], columns=COLUMNS)

    def _repr_html_(self) -> str:
        items = "".join(_hit_html(hit) for hit in self._hits)
        return (f"<div class='lodeseek-hits'><p>{self._counts()} for “{html.escape(self.query)}”</p>"
                f"<ol style='padding-left:1.5em'>{items}</ol></div>")


def _number(score: Optional[float]) -> str:
    return "" if score is None else f"{score:.3f}"


def _hit_html(hit: Hit) -> str:
    facts = [str(hit.year) if hit.year else "", f"{hit.triples:,} triples", "; ".join(hit.creators), hit.license or ""]
    description = f"<div>{html.escape(hit.description)}</div>" if hit.description else ""
    matched = "; ".join(f"{name} ({', '.join(words)})" for name, words in hit.matched.items())
    matched = f"<div><small>matched in {html.escape(matched)}</small></div>" if matched else ""
    return (f"<li value='{hit.rank}' style='margin-bottom:.8em'><b>{html.escape(hit.title)}</b> <code>{html.escape(hit.id)}</code> "
            f"{_number(hit.score)}<div><small>{html.escape(' · '.join(fact for fact in facts if fact))}</small></div>"
            f"{description}{matched}{_table_html(hit.table) if hit.table else _triples_html(hit.snippet)}</li>")


def _table_html(table: Dict[str, Any]) -> str:
    headers = "".join(_cell_html("th", cell) for cell in table["columns"])
    rows = "".join(f"<tr><td>{row['number']}</td>{''.join(_cell_html('td', cell) for cell in row['cells'])}</tr>" for row in table["rows"])
    matching = table.get("matchingRows")
    rows_of = f"{table['allRows']:,} rows" if not matching else f"{matching:,} matching rows ({table['allRows']:,} in all)"
    shown = (f"{html.escape(table['title'])}: {len(table['rows']):,} of {rows_of}, "
             f"{len(table['columns']):,} of {table['allColumns']:,} columns")
    return f"<details open><summary>{shown}</summary><table><tr><th></th>{headers}</tr>{rows}</table></details>"


def _cell_html(kind: str, cell: Dict[str, Any]) -> str:
    text = html.escape(cell["text"])
    return f"<{kind} style='text-align:left'>{f'<mark>{text}</mark>' if cell.get('matched') else text}</{kind}>"


def table_frame(table: Dict[str, Any]) -> "pandas.DataFrame":
    """Returns rows of a table as a DataFrame. The index has their numbers in the file, and ``attrs`` the numbers of all rows."""
    pandas = require("pandas", "pandas")
    cells = [[cell["text"] for cell in row["cells"]] for row in table["rows"]]
    numbers = [row["number"] for row in table["rows"]]
    frame = pandas.DataFrame(cells, index=pandas.Index(numbers, name="row"), columns=[cell["text"] for cell in table["columns"]])
    frame.attrs.update(title=table["title"], all_rows=table["allRows"])
    if "matchingRows" in table:
        frame.attrs["matching_rows"] = table["matchingRows"]
    return frame


def _triples_html(triples: Sequence[Dict[str, Any]]) -> str:
    if not triples:
        return ""
    rows = []
    for triple in triples:
        cells = "".join(f"<td style='text-align:left'>{html.escape(_label(triple[part]))}</td>"
                        for part in ("subject", "predicate", "object"))
        rows.append(f"<tr>{cells}</tr>")
    return f"<details><summary>{len(triples)} triples</summary><table>{''.join(rows)}</table></details>"


def _label(term: Dict[str, Any]) -> str:
    label = str(term.get("label") or term.get("value", ""))
    return f"“{label}”" if term.get("type") == "literal" else label


class SvgDrawing(str):
    """A drawing as SVG, which a notebook displays."""

    def _repr_svg_(self) -> str:
        return str(self)


def snippet_graph(triples: Sequence[Dict[str, Any]], svg: str) -> "rdflib.Graph":
    """Returns an rdflib Graph of the triples that a notebook displays as a drawing."""
    rdflib = require("rdflib", "rdf")
    graph = _snippet_class(rdflib)()
    for triple in triples:
        graph.add(tuple(_rdf_term(rdflib, triple[part]) for part in ("subject", "predicate", "object")))
    graph.svg = SvgDrawing(svg)
    return graph


def _rdf_term(rdflib, term: Dict[str, Any]):
    if term["type"] == "iri":
        return rdflib.URIRef(term["value"])
    if term["type"] == "blank":
        return rdflib.BNode(term["value"].removeprefix("_:"))
    if term["type"] == "literal":
        # Lexical forms are kept as they are in the data.
        return rdflib.Literal(term["value"], lang=term.get("language"), datatype=term.get("datatype"), normalize=False)
    raise LodeseekError(f"the term {term['value']} is of type {term['type']}, which rdflib does not support")


def _snippet_class(rdflib):
    """Returns the subclass of Graph. It is defined on the first call, because rdflib is optional."""
    global _Snippet
    if _Snippet is None:
        class Snippet(rdflib.Graph):
            """Triples that represent a dataset, with their drawing in ``svg``."""

            svg = SvgDrawing("")

            def _repr_svg_(self) -> str:
                return str(self.svg)
        _Snippet = Snippet
    return _Snippet


_Snippet: Any = None
