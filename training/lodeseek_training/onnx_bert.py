"""BERT's network as ONNX, written without torch: weights into a graph of ONNX's own operators (embeddings, layers of attention and
feed-forward, layer normalisation, GELU by erf), and its weights in int8. Needs numpy and onnx; quantizing, onnxruntime."""

OPSET = 17


class Graph:
    """Nodes and weights of a graph under construction."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], {}, 0

    def weight(self, name, value):
        self.weights[name] = value
        return name

    def __call__(self, kind, *inputs, **attributes):
        import onnx.helper
        self.count += 1
        name = f"{kind.lower()}_{self.count}"
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


def bert(config, tensors, title):
    """The network of a BERT checkpoint: token vectors from ids, attention and types."""
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

    def linear(rows, name):
        return graph("Add", graph("MatMul", rows, tensor(f"{name}.weight", transposed=True)), tensor(f"{name}.bias"))

    def normalized(rows, name):
        return graph("LayerNormalization", rows, tensor(f"{name}.weight"), tensor(f"{name}.bias"), axis=-1, epsilon=config["layer_norm_eps"])

    def split(rows, order):
        return graph("Transpose", graph("Reshape", rows, "split"), perm=order)

    length = graph("Gather", graph("Shape", "input_ids"), "one")
    places = graph("Range", "zero", length, "one")
    embedded = [graph("Gather", tensor(f"embeddings.{kind}_embeddings.weight"), ids)
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
    model = helper.make_model(helper.make_graph(graph.nodes, title, inputs, [output], weights),
                              opset_imports=[helper.make_opsetid("", OPSET)], producer_name="lodeseek", ir_version=8)
    onnx.checker.check_model(model)
    return model


def quantize(whole, smaller):
    """Weights in signed int8, one scale a column (one scale a tensor costs several points of cosine), the inner products of what
    comes in int8, too, as it comes."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(str(whole), str(smaller), per_channel=True, weight_type=QuantType.QInt8)
