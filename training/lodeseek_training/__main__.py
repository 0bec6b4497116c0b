"""python -m lodeseek_training: train by a plan, or make ONNX of what was trained."""

import argparse
import json
import pathlib
import sys

PLANS = pathlib.Path(__file__).parent.parent / "plans"


def main():
    parser = argparse.ArgumentParser(prog="lodeseek_training", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    train = kinds.add_parser("train", help="train the chains of a plan; goes on where it was stopped")
    train.add_argument("plan", help="a file, or the name of one in training/plans")
    train.add_argument("--base", required=True, help="the folder of the model to begin with")
    train.add_argument("--data", required=True, help="the folder with the folders that `lodeseek-lab training-data` wrote")
    train.add_argument("--output", required=True)
    train.add_argument("--only", action="append", metavar="RUN", help="only this chain; may be given more than once")
    train.add_argument("--fold", type=int, help="only this fold")
    export = kinds.add_parser("export", help="ONNX in fp32 and int8, with the settings that Lodeseek reads")
    export.add_argument("model", help="a trained model's folder")
    export.add_argument("output")
    export.add_argument("--parity", action="store_true", help="write parity.json: texts and torch's vectors of them")
    export.add_argument("--int8-only", action="store_true", help="leave the fp32 network out")
    parity = kinds.add_parser("parity", help="hold exported networks against torch's vectors")
    parity.add_argument("model", help="an exported model's folder, with parity.json")
    generate = kinds.add_parser("generate", help="write queries for datasets by a T5-like model, for `training-data queries --written`")
    generate.add_argument("data", help="a folder with the passages of all datasets, as `training-data queries` wrote it")
    generate.add_argument("--model", required=True, help="the folder of a sequence-to-sequence model of Hugging Face's, with its tokenizer")
    generate.add_argument("--output", required=True, help="the file: a dataset's id, a tab and a query on each line")
    generate.add_argument("--queries", type=int, default=3, help="queries of a dataset")
    generate.add_argument("--prefix", default="", help="prefix of each text, as required by the model")
    generate.add_argument("--seed", type=int, default=12345)
    arguments = parser.parse_args()
    if arguments.kind == "train":
        from . import plan
        path = pathlib.Path(arguments.plan)
        path = path if path.exists() else PLANS / f"{arguments.plan}.toml"
        say = lambda text: print(text, file=sys.stderr, flush=True)
        print(json.dumps(plan.run(path, arguments.base, arguments.data, arguments.output, arguments.only, arguments.fold, say), indent=1))
    elif arguments.kind == "export":
        from . import export as exporter
        files = ["model_int8.onnx"] if arguments.int8_only else ["model.onnx", "model_int8.onnx"]
        exporter.export(arguments.model, arguments.output, arguments.parity, files)
    elif arguments.kind == "generate":
        from .generate import generate as written
        written(arguments.data, arguments.model, arguments.output, arguments.queries, arguments.prefix, arguments.seed)
    else:
        from .export import parity as held
        held(arguments.model)


if __name__ == "__main__":
    main()
