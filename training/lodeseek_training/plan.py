"""Plans: the order of training stages, in TOML. `[stages.NAME]` contains a stage's data folder and settings, `[runs]` lists
chains of stages, each beginning where the one before ended. What two chains begin with alike is trained once. `[means]` names models
whose weights are the mean of the named chains', by fold where these have folds.

A stage over judged examples is trained for each fold apart, as `NAME/fold0` and so on."""

import json
import pathlib
import tomllib

from .mean import mean
from .stage import Settings, Stage


def run(path, base, data, output, only=None, fold=None, say=print):
    """Trains the chains of a plan; returns by chain the model's folder, or with folds, a list of them."""
    plan = tomllib.loads(pathlib.Path(path).read_text())
    folds = plan.get("folds")
    for name, chains in plan.get("means", {}).items():
        unknown = [chain for chain in chains if chain not in plan["runs"]]
        if unknown or not chains:
            raise SystemExit(f"{path}: the mean {name} is of {', '.join(unknown) or 'nothing'}: [runs] names what it can be of")
    found = {}
    for name, chain in plan["runs"].items():
        if only and name not in only:
            continue
        if any(judged(data, plan["stages"][stage]) for stage in chain):
            wanted = range(folds) if fold is None else [fold]
            found[name] = [str(trained(plan, chain, base, data, output, one, folds, say)) for one in wanted]
        else:
            found[name] = str(trained(plan, chain, base, data, output, None, None, say))
    for name, chains in plan.get("means", {}).items():
        # Those that `only` left out are missing.
        if all(chain in found for chain in chains):
            models = [found[chain] for chain in chains]
            if len({isinstance(model, list) for model in models}) > 1:
                raise SystemExit(f"{path}: the mean {name} is of chains with folds and of others without")
            found[name] = averaged(models, pathlib.Path(output) / name)
    (pathlib.Path(output) / "models.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


def averaged(models, folder):
    """The means of models, or of each fold's, unless they are there already, of the same models as these are now."""
    if isinstance(models[0], list):
        places = [pathlib.Path(one).parent.name for one in models[0]]
        return [averaged(list(fold), folder / place) for fold, place in zip(zip(*models, strict=True), places)]
    best, path = folder / "best", folder / "done.json"
    done = {"of": {model: json.loads((pathlib.Path(model).parent / "done.json").read_text()) for model in models}}
    if not best.exists() or not path.exists() or json.loads(path.read_text()) != done:
        folder.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        mean(models, best)
        path.write_text(json.dumps(done, indent=1) + "\n")
    return str(best)


def judged(data, stage):
    with open(pathlib.Path(data) / stage["data"] / "examples.jsonl", encoding="utf-8") as file:
        return json.loads(file.readline()).get("fold") is not None


def trained(plan, chain, base, data, output, fold, folds, say):
    start, place = base, []
    for name in chain:
        stage = dict(plan["stages"][name])
        source = pathlib.Path(data) / stage.pop("data")
        place.append(name)
        by_fold = judged(data, plan["stages"][name])
        folder = pathlib.Path(output) / "+".join(place) / (f"fold{fold}" if by_fold else "")
        settings = Settings(**{"seed": plan.get("seed", 12345), **plan.get("common", {}), **stage})
        start = Stage(start, source, folder, settings, fold if by_fold else None, folds, say).run()
    return start
