"""Models that Tenon writes as ONNX, checked by onnx and run by onnxruntime:

    python3 -m venv /tmp/onnx && /tmp/onnx/bin/pip install onnx onnxruntime
    /tmp/onnx/bin/python internal/onnxtest/runtime.py [DIR]

It runs the tests that write them (to DIR, or a folder that goes away), then for each case: onnx.checker with
inference of types and shapes, and the outputs of onnxruntime beside those of Tenon: equal where they are no floating
numbers, and otherwise up to the error that the test allows. What onnxruntime has no kernel for runs by the reference
evaluator of onnx. The exit status is 1 where something differs.
"""
import collections
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
import onnxruntime as ort

PACKAGES = ["./model/onnx", "./examples/gosearch/internal/model"]
TESTS = "Written"
PRECISION = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
# What onnxruntime says of element types and sizes that it has no kernels for, and numpy of bfloat16.
LACKING = ["NOT_IMPLEMENTED", "Type Error", "MLDataType", "tensor(bfloat16)", "data type is not supported", "ort_value_tensor_slicer", "No corresponding Numpy type"]
# float64 that onnxruntime computes in float32.
SINGLE = {"erf", "erfc", "gelu"}
ort.set_default_logger_severity(4)


def tensors(folder, kind):
    out = []
    while os.path.exists(path := os.path.join(folder, f"{kind}_{len(out)}.pb")):
        t = onnx.TensorProto()
        with open(path, "rb") as f:
            t.ParseFromString(f.read())
        out.append(onnx.numpy_helper.to_array(t))
    return out


def differs(got, want, units):
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype.kind in "OU" or want.dtype.kind in "OU":
        if got.size == want.size == 0:
            return None
        return None if got.astype(str).tolist() == want.astype(str).tolist() else f"got {got}, want {want}"
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"got {got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}"
    tolerance = PRECISION.get(str(want.dtype))
    if tolerance is None:
        return None if np.array_equal(got, want) else f"got {got}, want {want}"
    g, w = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        bad = ~((g == w) | (np.isnan(g) & np.isnan(w)) | (abs(g - w) <= units * tolerance * np.maximum(1, abs(w))))
    return f"got {g[bad][:4]}, want {w[bad][:4]}" if bad.any() else None


def runtime(model, names, inputs):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    # beyond that, factors of float64 become attributes of 32 bits
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs)))


def reference(model, names, inputs):
    return onnx.reference.ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))


def case(folder):
    """Returns how the case was run; an exception says what is wrong."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    onnx.checker.check_model(model, full_check=True)
    with open(os.path.join(folder, "units")) as f:
        units = float(f.read())
    data = os.path.join(folder, "test_data_set_0")
    inputs, want = tensors(data, "input"), tensors(data, "output")
    types = {str(x.dtype) for x in inputs + want}
    if os.path.basename(folder).rsplit("_", 1)[0] in SINGLE and "float64" in types:
        units = 2**29
    if any(n.op_type == "TopK" for n in model.graph.node) and any(np.isnan(x).any() for x in inputs if x.dtype.kind == "f"):
        return "only checked: the place of NaN in an order is open"
    if not want:
        return "only checked: onnxruntime wants outputs"
    names = [i.name for i in model.graph.input]
    how = "by onnxruntime"
    try:
        if "object" in types:
            raise NotImplementedError("NOT_IMPLEMENTED: slices of texts come back empty")
        got = runtime(model, names, inputs)
    except Exception as e:
        if not any(t in str(e) for t in LACKING):
            raise
        try:
            got, how = reference(model, names, inputs), "by the reference evaluator of onnx"
        except Exception as e:
            return "only checked: neither runs elements of these types"
        if types & {"bfloat16", "complex64", "complex128"} and any(map(differs, got, want, [units] * len(want))):
            return "only checked: the reference evaluator computes these types otherwise"
    if len(got) != len(want):
        raise AssertionError(f"{len(got)} outputs, want {len(want)}")
    for i, (g, w) in enumerate(zip(got, want)):
        if text := differs(g, w, units):
            raise AssertionError(f"output {i}: {text}")
    return how


def main():
    temp = tempfile.TemporaryDirectory()
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else temp.name
    if not os.path.isdir(folder) or not os.listdir(folder):
        env = dict(os.environ, TENON_ONNX_OUT=folder)
        subprocess.run(["go", "test", "-count=1", "-run", TESTS, *PACKAGES], check=True, env=env, cwd=os.path.join(os.path.dirname(__file__), "..", ".."))
    counts, failed = collections.Counter(), 0
    for name in sorted(os.listdir(folder)):
        try:
            counts[case(os.path.join(folder, name))] += 1
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {str(e)[:400]}")
            failed += 1
    for what, n in sorted(counts.items()):
        print(n, what)
    print(failed, "failed")
    print("onnx", onnx.__version__, "onnxruntime", ort.__version__)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
