"""Results of SPARQL queries as Python values."""

from typing import Any, Callable, Dict, List, Mapping, Tuple

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGERS = ["integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger",
            "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"]
CONVERSIONS: Dict[str, Callable[[str], Any]] = {
    **{XSD + name: int for name in INTEGERS},
    XSD + "decimal": float, XSD + "double": float, XSD + "float": float,
    XSD + "boolean": lambda text: text in ("true", "1"),
}


def value(term: Mapping[str, Any]) -> Any:
    """Returns a term of SPARQL's JSON results as a Python value: numbers and booleans by their datatype, all others as text.

    A literal that is not valid for its datatype remains text.

    >>> value({"type": "literal", "datatype": "http://www.w3.org/2001/XMLSchema#integer", "value": "7"})
    7
    >>> value({"type": "uri", "value": "http://example.org/a"})
    'http://example.org/a'
    """
    if term["type"] == "bnode":
        return "_:" + term["value"]
    if term["type"] == "triple":
        return tuple(value(term["value"][part]) for part in ("subject", "predicate", "object"))
    convert = CONVERSIONS.get(term.get("datatype", ""))
    if convert is None:
        return term["value"]
    try:
        return convert(term["value"])
    except (ValueError, ArithmeticError):
        return term["value"]


def table(results: Mapping[str, Any]) -> Tuple[List[str], List[List[Any]]]:
    """Returns columns and rows of SPARQL's JSON results. Unbound variables are None."""
    columns = list(results["head"]["vars"])
    rows = []
    for binding in results["results"]["bindings"]:
        rows.append([value(binding[name]) if name in binding else None for name in columns])
    return columns, rows
