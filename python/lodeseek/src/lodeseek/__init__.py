"""Lodeseek in Python: load, index, search and query a collection of RDF datasets.

The program ``lodeseek`` does the work; this package starts and ends it.

>>> from lodeseek import Lodeseek
>>> with Lodeseek.open(home) as collection:           # doctest: +ELLIPSIS
...     _ = collection.load(catalog)
...     collection.index(ranking="words")
...     collection.hits("ginkgo biloba", k=1)[0].id
'street-trees'

``search`` and ``query`` return a pandas DataFrame, ``snippet`` returns an rdflib Graph. Both libraries are optional:
``pip install 'lodeseek[pandas,rdf]'``.
"""

from ._client import Lodeseek
from ._errors import IncompleteLoad, LodeseekError, MissingDependency
from ._evaluation import Evaluation, evaluate
from ._program import find_program, run_program
from ._results import Hit, Hits, SvgDrawing

__all__ = ["Evaluation", "Hit", "Hits", "IncompleteLoad", "Lodeseek", "LodeseekError", "MissingDependency", "SvgDrawing", "evaluate", "find_program", "run_program"]
