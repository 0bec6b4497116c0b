"""BERT's network as ONNX, written without torch: weights into a graph of ONNX's own operators (embeddings, layers of attention and
feed-forward, layer normalisation, GELU by erf), and its weights in int8, in two ways. Needs numpy and onnx; `quantize`,
onnxruntime, too."""

import dataclasses

OPSET = 17


class Graph:
    """Nodes and weights of a graph under construction; `raw` are weights that are no arrays of numpy."""

    def __init__(self):
        self.nodes, self.weights, self.raw, self.count = [], {}, {}, 0

    def weight(self, name, value):
        self.weights[name] = value
        return name

    def __call__(self, kind, *inputs, **attributes):
        import onnx.helper
        self.count += 1
        name = f"{kind.lower()}_{self.count}"
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


@dataclasses.dataclass
class FourBits:
    """A matrix in four bits, with one scale for every 32 of a row: `codes` from 0 to 15, `[rows, columns]`; a weight is
    (code - 8) times its scale of `scales`, `[rows, columns / 32]`."""
    codes: object
    scales: object

    def packed(self):
        """The codes in bytes, the first of two in the low half."""
        return self.codes[:, 0::2] | self.codes[:, 1::2] << 4


def bert(config, tensors, title):
    """The network of a BERT checkpoint: token vectors from ids, attention and types. A tensor of `FourBits` remains in four bits;
    what is multiplied by it is rounded to eight bits, in blocks of 32, too."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    assert config["model_type"] == "bert" and config["hidden_act"] == "gelu", "another network than this script writes"
    graph = Graph()
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    for name, value in [("zero", 0), ("one", 1)]:
        graph.weight(name, np.array(value, np.int64))
    for name, value in [("ones", [1]), ("inner", [1, 2]), ("split", [0, 0, heads, hidden // heads]), ("joined", [0, 0, hidden])]:
        graph.weight(name, np.array(value, np.int64))
    for name, value in [("float_one", 1.0), ("half", 0.5), ("root", 2.0 ** 0.5), ("scale", (hidden / heads) ** 0.5), ("closed", -1e9)]:
        graph.weight(name, np.array(value, np.float32))

    def tensor(name, transposed=False):
        value = tensors[name].astype(np.float32)
        return graph.weight(name, np.ascontiguousarray(value.T) if transposed else value)

    def product(rows, name):
        value = tensors[name]
        if not isinstance(value, FourBits):
            return graph("MatMul", rows, tensor(name, transposed=True))
        count, width = value.codes.shape
        blocks = value.packed().reshape(count, -1, BLOCK // 2)
        scales = value.scales.astype(np.float32).ravel()
        return graph("MatMulNBits", rows, graph.weight(f"{name}.int4", blocks), graph.weight(f"{name}.scale", scales),
                     domain="com.microsoft", K=width, N=count, bits=4, block_size=BLOCK, accuracy_level=4)

    def lookup(name, ids):
        value = tensors[name]
        if not isinstance(value, FourBits):
            return graph("Gather", tensor(name), ids)
        graph.raw[f"{name}.int4"] = helper.make_tensor(f"{name}.int4", TensorProto.INT4, value.codes.shape,
                                                       (value.packed() ^ 0x88).tobytes(), raw=True)
        scales = graph.weight(f"{name}.scale", value.scales.astype(np.float16))
        rows = graph("GatherBlockQuantized", f"{name}.int4", ids, scales, domain="com.microsoft", gather_axis=0, quantize_axis=1,
                     block_size=BLOCK)
        return graph("Cast", rows, to=TensorProto.FLOAT)

    def linear(rows, name):
        return graph("Add", product(rows, f"{name}.weight"), tensor(f"{name}.bias"))

    def normalized(rows, name):
        return graph("LayerNormalization", rows, tensor(f"{name}.weight"), tensor(f"{name}.bias"), axis=-1, epsilon=config["layer_norm_eps"])

    def split(rows, order):
        return graph("Transpose", graph("Reshape", rows, "split"), perm=order)

    length = graph("Gather", graph("Shape", "input_ids"), "one")
    places = graph("Range", "zero", length, "one")
    embedded = [lookup(f"embeddings.{kind}_embeddings.weight", ids)
                for kind, ids in [("word", "input_ids"), ("token_type", "token_type_ids"), ("position", places)]]
    rows = normalized(graph("Add", graph("Add", embedded[0], embedded[1]), embedded[2]), "embeddings.LayerNorm")
    absent = graph("Sub", "float_one", graph("Cast", "attention_mask", to=TensorProto.FLOAT))
    closed = graph("Unsqueeze", graph("Mul", absent, "closed"), "inner")
    for number in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{number}"
        query, key, value = (linear(rows, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        scores = graph("Div", graph("MatMul", split(query, [0, 2, 1, 3]), split(key, [0, 2, 3, 1])), "scale")
        shares = graph("Softmax", graph("Add", scores, closed), axis=-1)
        mixed = graph("Transpose", graph("MatMul", shares, split(value, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        attended = linear(graph("Reshape", mixed, "joined"), f"{name}.attention.output.dense")
        rows = normalized(graph("Add", attended, rows), f"{name}.attention.output.LayerNorm")
        wide = linear(rows, f"{name}.intermediate.dense")
        erf = graph("Add", graph("Erf", graph("Div", wide, "root")), "float_one")
        wide = graph("Mul", graph("Mul", wide, erf), "half")
        rows = normalized(graph("Add", linear(wide, f"{name}.output.dense"), rows), f"{name}.output.LayerNorm")
    graph("Identity", rows)
    graph.nodes[-1].output[0] = "last_hidden_state"
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
              for name in ("input_ids", "attention_mask", "token_type_ids")]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", hidden])
    used = {name for node in graph.nodes for name in node.input}
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in graph.weights.items() if name in used]
    weights += graph.raw.values()
    domains = [helper.make_opsetid("", OPSET)]
    if any(node.domain for node in graph.nodes):
        domains.append(helper.make_opsetid("com.microsoft", 1))
    # Version 10 of the format has weights in four bits.
    model = helper.make_model(helper.make_graph(graph.nodes, title, inputs, [output], weights),
                              opset_imports=domains, producer_name="lodeseek", ir_version=10 if graph.raw else 8)
    onnx.checker.check_model(model)
    return model


def quantize(whole, smaller):
    """Weights in signed int8, one scale a column (one scale a tensor costs several points of cosine), the inner products of what
    comes in int8, too, one scale for all of it: the fastest on CPUs, and the least exact."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(str(whole), str(smaller), per_channel=True, weight_type=QuantType.QInt8)


# Weights of one scale.
BLOCK = 32


def in_blocks(whole, smaller):
    """Weights in int8, one scale for every 32 that meet in a sum (ONNX Runtime's MatMulNBits), for every 32 of a row of the
    embeddings, too. What comes to them stays as it is: in int8 as well, it would save little time on processors of today and
    double the error. A tenth of the error of `quantize`, because no outlier spoils more than its block; a text's vector does not
    depend on the texts beside it."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    model = onnx.load(str(whole))
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes, made = [], {}

    def weight(name, value):
        made[name] = numpy_helper.from_array(value, name)
        return name

    def scaled(rows):
        """Blocks of the rows' numbers, `[rows, blocks, BLOCK]`, filled with zeros, and the scale of each block."""
        count, width = rows.shape
        blocks = -(-width // BLOCK)
        values = np.pad(rows.astype(np.float32), ((0, 0), (0, blocks * BLOCK - width))).reshape(count, blocks, BLOCK)
        scales = np.abs(values).max(-1, keepdims=True) / 127
        scales[scales == 0] = 1
        return np.round(values / scales), scales

    def product(node, name):
        rows = numpy_helper.to_array(weights[name]).T
        count, width = rows.shape
        values, scales = scaled(rows)
        inputs = [node.input[0], weight(f"{name}.int8", (values + 128).astype(np.uint8)), weight(f"{name}.scale", scales.ravel())]
        return [helper.make_node("MatMulNBits", inputs, list(node.output), name=node.name, domain="com.microsoft", K=width, N=count,
                                 bits=8, block_size=BLOCK, accuracy_level=1)]

    def lookup(node, name):
        rows = numpy_helper.to_array(weights[name])
        if rows.shape[1] % BLOCK:
            return [node]  # no network that anybody uses
        values, scales = scaled(rows)
        out = node.output[0]
        parts = [weight(f"{name}.int8", values.astype(np.int8)), weight(f"{name}.scale", scales)]
        made["whole"] = numpy_helper.from_array(np.array([-1], np.int64), "whole")
        return [helper.make_node("Gather", [parts[0], node.input[1]], [f"{out}.int8"], name=f"{out}.int8"),
                helper.make_node("Gather", [parts[1], node.input[1]], [f"{out}.scale"], name=f"{out}.scale"),
                helper.make_node("Cast", [f"{out}.int8"], [f"{out}.whole"], name=f"{out}.whole", to=TensorProto.FLOAT),
                helper.make_node("Mul", [f"{out}.whole", f"{out}.scale"], [f"{out}.blocks"], name=f"{out}.blocks"),
                helper.make_node("Shape", [node.input[1]], [f"{out}.places"], name=f"{out}.places"),
                helper.make_node("Concat", [f"{out}.places", "whole"], [f"{out}.shape"], name=f"{out}.shape", axis=0),
                helper.make_node("Reshape", [f"{out}.blocks", f"{out}.shape"], [out], name=node.name)]

    for node in model.graph.node:
        names = [name for name in node.input if name in weights and len(weights[name].dims) == 2]
        rewritten = {"MatMul": product, "Gather": lookup}.get(node.op_type) if names else None
        nodes += rewritten(node, names[0]) if rewritten else [node]
    kept = [tensor for tensor in model.graph.initializer if f"{tensor.name}.int8" not in made]
    for field, values in ((model.graph.node, nodes), (model.graph.initializer, [*kept, *made.values()])):
        del field[:]
        field.extend(values)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, str(smaller))
