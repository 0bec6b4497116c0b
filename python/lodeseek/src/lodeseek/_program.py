"""The program ``lodeseek``: its place, and runs of it."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from typing import List, Optional, Sequence, Union

from ._errors import LodeseekError

PathLike = Union[str, "os.PathLike[str]"]


def find_program(program: Optional[PathLike] = None) -> str:
    """Returns the path of the program.

    It is searched in this order: the argument, the variable ``LODESEEK_PROGRAM``, the scripts of this Python environment, those of
    the user, ``PATH``. Raises LodeseekError if it is not found.

    >>> import os
    >>> os.access(find_program(), os.X_OK)
    True
    """
    explicit = program or os.environ.get("LODESEEK_PROGRAM")
    if explicit:
        path = pathlib.Path(explicit)
        if not path.is_file():
            raise LodeseekError(f"there is no program at {path}; pass the path of lodeseek, or unset LODESEEK_PROGRAM")
        return str(path.resolve())
    name = "lodeseek" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts"), str(pathlib.Path(sys.executable).parent), _user_scripts()]
    for folder in folders:
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    found = shutil.which("lodeseek")
    if found:
        return found
    raise LodeseekError("the program lodeseek was not found in this Python environment or on PATH; run `pip install lodeseek`, or set "
                        "LODESEEK_PROGRAM to its path")


def _user_scripts() -> Optional[str]:
    scheme = os.name + "_user"
    return sysconfig.get_path("scripts", scheme) if scheme in sysconfig.get_scheme_names() else None


def run_program(arguments: Sequence[PathLike], *, program: Optional[PathLike] = None, stdin: Optional[str] = None,
                accepted: Sequence[int] = (0,), quiet: bool = True) -> "subprocess.CompletedProcess[str]":
    """Runs the program and returns its output.

    Exit codes that are not in ``accepted`` raise LodeseekError with the messages of the program. Without ``quiet``, messages are
    printed to stderr while it runs.
    """
    command: List[str] = [find_program(program), *(os.fspath(argument) for argument in arguments)]
    errors = subprocess.PIPE if quiet else None
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", env={**os.environ, "NO_COLOR": "1"},
                          stdin=subprocess.DEVNULL if stdin is None else None)
    if done.returncode not in accepted:
        raise LodeseekError(_reason(done.stderr or "", done.returncode, command))
    return done


def _reason(messages: str, status: int, command: Sequence[str]) -> str:
    """Returns the error of the program without its name, or the exit code if it printed none."""
    lines = [line.rstrip() for line in messages.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("lodeseek: ", "error: "))]
    if errors:
        return errors[-1].split(": ", 1)[1]
    return lines[-1] if lines else f"{' '.join(command)} ended with exit code {status}"
