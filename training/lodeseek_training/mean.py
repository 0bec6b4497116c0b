"""One model whose weights are the mean of others' (M. Wortsman et al., *Model soups*, ICML 2022): what differently trained models
learned alike stays, what each has by chance becomes less, and none of them has to be chosen."""

import os
import pathlib
import shutil

import torch
from safetensors.torch import load_file, save_file

from .model import PIECES

DENSE = pathlib.Path(PIECES) / "1_Dense" / "model.safetensors"


def mean(models, folder):
    """Writes the mean of models' folders, all begun with one base; what is not weights is the first one's."""
    models, folder = [pathlib.Path(model) for model in models], pathlib.Path(folder)
    staged = folder.with_name(folder.name + ".new")
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(models[0], staged)
    every = [load_file(model / "model.safetensors") for model in models]
    for model, weights in zip(models, every):
        if {name: value.shape for name, value in weights.items()} != {name: value.shape for name, value in every[0].items()}:
            raise SystemExit(f"{model} is not a model like {models[0]}: their weights have other names or shapes")
    save_file({name: torch.stack([weights[name] for weights in every]).mean(0) if value.is_floating_point() else value
               for name, value in every[0].items()}, staged / "model.safetensors")
    heads = [(model / DENSE).exists() for model in models]
    if any(heads) != all(heads):
        raise SystemExit(f"{folder.name}: some of the models have a head for pieces, others have none")
    if all(heads):
        weights = [load_file(model / DENSE)["linear.weight"] for model in models]
        if len({weight.shape for weight in weights}) > 1:
            raise SystemExit(f"{folder.name}: the models' heads for pieces have projections of other shapes")
        save_file({"linear.weight": projection(weights)}, staged / DENSE)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(staged, folder)


def projection(weights):
    """The mean of projections, `[dimension, hidden]`. A projection and the same one turned give the same cosines, and models that
    begin with other data begin with others: so the mean is that of their products `WᵀW`, which turning does not change, by as
    many of its directions as a projection has."""
    products = torch.stack([weight.double().T @ weight.double() for weight in weights]).mean(0)
    values, directions = torch.linalg.eigh(products)
    kept = slice(-weights[0].shape[0], None)
    return (values[kept].clamp(min=0).sqrt() * directions[:, kept]).T.flip(0).float().contiguous()
