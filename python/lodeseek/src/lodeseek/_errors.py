"""Errors and warnings of this package."""


class LodeseekError(RuntimeError):
    """Error reported by the program or its server; the message names the cause and the remedy."""


class MissingDependency(LodeseekError, ImportError):
    """An optional library is not installed; the message names the command that installs it."""


class IncompleteLoad(UserWarning):
    """Some files of a source could not be read; the report of ``load`` lists them."""


def require(library: str, extra: str):
    """Imports an optional library.

    Raises MissingDependency if it is not installed.
    """
    import importlib
    try:
        return importlib.import_module(library)
    except ImportError as cause:
        raise MissingDependency(f"{library} is not installed; run `pip install 'lodeseek[{extra}]'`") from cause
