"""``python -m lodeseek``: runs the program with the same arguments."""

import os
import sys

from ._errors import LodeseekError
from ._program import find_program


def main() -> None:
    try:
        program = find_program()
    except LodeseekError as error:
        sys.exit(f"lodeseek: {error}")
    os.execv(program, ["lodeseek", *sys.argv[1:]])


if __name__ == "__main__":
    main()
