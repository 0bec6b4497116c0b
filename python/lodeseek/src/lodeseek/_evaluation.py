"""Evaluation of runs against relevance judgements."""

import json
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from ._errors import LodeseekError, require
from ._files import Table, qrels_file, run_file
from ._program import PathLike, run_program

if TYPE_CHECKING:
    import pandas

MEASURES = ("nDCG@5", "nDCG@10", "AP@5", "AP@10")


class Evaluation:
    """Values of runs by measure, with significance tests if there is a baseline."""

    def __init__(self, arguments: Sequence[str], program: Optional[PathLike], folder: pathlib.Path) -> None:
        self._arguments, self._program = list(arguments), program
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.json: Dict[str, Any] = json.loads(self._output("json", "--per-query"))

    def _output(self, form: str, *options: str) -> str:
        return run_program([*self._arguments, "--format", form, *options], program=self._program).stdout

    @property
    def means(self) -> "pandas.DataFrame":
        """Means over the topics as a DataFrame: one row a run, one column a measure."""
        pandas = require("pandas", "pandas")
        rows = {run["run"]: run["means"] for run in self.json["runs"]}
        return pandas.DataFrame.from_dict(rows, orient="index", columns=self.json["measures"])

    @property
    def per_query(self) -> "pandas.DataFrame":
        """Values of each topic as a DataFrame with the columns ``run``, ``qid``, ``measure`` and ``value``."""
        pandas = require("pandas", "pandas")
        rows = [(run["run"], topic, measure, value) for run in self.json["runs"] for topic, values in run["per_query"].items()
                for measure, value in values.items()]
        return pandas.DataFrame(rows, columns=["run", "qid", "measure", "value"])

    @property
    def comparisons(self) -> "pandas.DataFrame":
        """Differences to the baselines as a DataFrame. ``corrected_p`` is the probability after correction for several comparisons."""
        pandas = require("pandas", "pandas")
        columns = ["run", "baseline", "measure", "difference", "low", "high", "effect_size", "p", "corrected_p"]
        rows = []
        for run in self.json["runs"]:
            for measure, comparisons in (run.get("comparisons") or {}).items():
                for one in comparisons:
                    low, high = one["interval"] or (None, None)
                    rows.append((run["run"], one["baseline"], measure, one["difference"], low, high, one["effect_size"], one["p"],
                                 one["corrected_p"]))
        return pandas.DataFrame(rows, columns=columns)

    def to_text(self, form: str = "table") -> str:
        """Returns the table in a format of ``lodeseek evaluate``: table, markdown, latex, csv or json."""
        return self._output(form)

    def to_latex(self) -> str:
        """Returns the table in LaTeX, with marks of significance and a legend."""
        return self._output("latex")

    def __repr__(self) -> str:
        return self._output("table").rstrip("\n")

    def _repr_html_(self) -> str:
        return self.means.to_html(float_format="{:.4f}".format)


def evaluate(qrels: Table, runs: Union[Mapping[str, Table], Sequence[PathLike], PathLike], *, measures: Sequence[str] = MEASURES,
             baseline: Union[str, Sequence[str], None] = None, test: str = "t", correction: str = "holm", folds: Optional[PathLike] = None,
             program: Optional[PathLike] = None) -> Evaluation:
    """Measures runs against relevance judgements.

    ``qrels`` is a file in TREC's format, or a DataFrame with topic, dataset and grade. ``runs`` maps names to files or DataFrames with
    topic, dataset and score, or lists files. With ``baseline``, the name of a run or several names, the other runs are compared with it by
    ``test``: t, bootstrap or randomisation. ``correction`` for several comparisons is holm, bonferroni or none. Measures have the names of ir_measures.

    >>> qrels, run = testdata / "qrels.txt", testdata / "runs" / "metadata.run"
    >>> print(evaluate(qrels, run, measures=["nDCG@10"]))
    run               nDCG@10   (10 topics)
    metadata           0.7361
    """
    if isinstance(runs, Mapping):
        named = dict(runs)
    else:
        paths: List[PathLike] = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
        named = {pathlib.Path(path).stem: path for path in paths}
        if len(named) < len(paths):
            raise LodeseekError("two files of runs have the same name; pass a mapping of names to files")
    place = pathlib.Path(tempfile.mkdtemp(prefix="lodeseek-"))
    arguments: List[str] = ["evaluate", str(qrels_file(qrels, place)), "--metrics", ",".join(measures), "--test", test]
    for name, run in named.items():
        arguments.append(str(_named_run(name, run, place)))
    if baseline is not None:
        names = [baseline] if isinstance(baseline, str) else list(baseline)
        arguments += ["--compare=" + ",".join(names), "--correction", correction]
    if folds is not None:
        arguments += ["--folds", str(folds)]
    return Evaluation(arguments, program, place)


def _named_run(name: str, run: Table, folder: pathlib.Path) -> pathlib.Path:
    """Returns a file whose stem is the name of the run: a link if the file has another one."""
    path = run_file(name, run, folder)
    if path.stem == name:
        return path
    link = folder / f"{name}.run"
    link.symlink_to(path)
    return link
