"""The encoder lodeseek-minilm as data of this Python environment."""

import pathlib
import sysconfig

NAME = "lodeseek-minilm"


def model_folder() -> pathlib.Path:
    """Returns the folder of the model, for other programs; Lodeseek finds it by itself."""
    return pathlib.Path(sysconfig.get_path("data")) / "share" / "lodeseek" / "models" / NAME
