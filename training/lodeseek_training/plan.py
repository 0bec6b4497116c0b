"""Plans: which stages follow which. A file in TOML: `[stages.NAME]` says a stage's data folder and settings, `[runs]` names
chains of stages, each beginning where the one before ended. What two chains begin with alike is trained once.

A stage over judged examples is trained for each fold apart, as `NAME/fold0` and so on."""

import json
import pathlib
import tomllib

from .stage import Settings, Stage


def run(path, base, data, output, only=None, fold=None, say=print):
    """Trains the chains of a plan; returns by chain the model's folder, or with folds, a list of them."""
    plan = tomllib.loads(pathlib.Path(path).read_text())
    folds = plan.get("folds")
    found = {}
    for name, chain in plan["runs"].items():
        if only and name not in only:
            continue
        if any(judged(data, plan["stages"][stage]) for stage in chain):
            wanted = range(folds) if fold is None else [fold]
            found[name] = [str(trained(plan, chain, base, data, output, one, folds, say)) for one in wanted]
        else:
            found[name] = str(trained(plan, chain, base, data, output, None, None, say))
    (pathlib.Path(output) / "models.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


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
