"""Files of weights and models, from Tenon to Python and from Python to Tenon:

    python3 -m venv /tmp/exchange && /tmp/exchange/bin/pip install numpy safetensors onnx onnxruntime tensorflow torch gguf
    go build -o /tmp/weightstest ./internal/weightstest
    /tmp/exchange/bin/python internal/weightstest/exchange.py /tmp/weightstest

Python reads what Tenon writes: safetensors by its own library, the ZIP file of a model by zipfile, from which its tensors
are read where they lie, .npz by numpy, ONNX by onnxruntime, with equal outputs. Tenon reads what numpy, safetensors,
torch, TensorFlow, gguf and onnx write. What is not installed is said to be missing. The exit status is 1 where something
differs.
"""
import glob
import hashlib
import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np

program = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="weightstest-")
source = os.path.join(work, "from")
os.mkdir(source)


class Missing(Exception):
    pass


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Missing(name)


def same(got, want, what, units=0):
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        raise AssertionError(f"{what}: got {got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}")
    if units:
        ok = np.allclose(got, want, rtol=units * np.finfo(want.dtype).eps, atol=units * np.finfo(want.dtype).eps)
    else:
        ok = got.tobytes() == want.tobytes()
    if not ok:
        raise AssertionError(f"{what}: got {got}, want {want}")


def wanted(prefix):
    with np.load(os.path.join(work, "wanted.npz")) as f:
        return {k.removeprefix(prefix): f[k] for k in f.files if k.startswith(prefix)}


# What Python reads.

def read_safetensors():
    st = module("safetensors.numpy")
    name = os.path.join(work, "weights.safetensors")
    # The library knows bfloat16 by ml_dtypes alone, and reads what it knows one by one.
    from safetensors import safe_open
    with safe_open(name, "np") as f:
        names = set(f.keys())
        for key, want in wanted("weights.").items():
            same(f.get_tensor(key), want, key)
        assert f.metadata()["author"] == "weightstest", f.metadata()
        same(f.get_tensor("words:offsets"), np.array([0, 1, 1, 9], np.int64), "words")
        assert bytes(f.get_tensor("words:bytes")) == "agrößer".encode(), "words"
        same(f.get_tensor("rows.flat_values"), np.array([1, 2, 3], np.int32), "rows")
        assert {"rows.flat_values", "words:bytes", "half"} <= names, names


def read_zip():
    name = os.path.join(work, "model.zip")
    with zipfile.ZipFile(name) as z, open(name, "rb") as f:
        assert z.testzip() is None
        doc = json.loads(z.read("model.json"))
        files = {e["path"]: e for e in doc["files"]}
        assert set(z.namelist()) == set(files) | {"model.json"}, z.namelist()
        for path, e in files.items():
            data = z.read(path)
            assert len(data) == e["size"] and hashlib.sha256(data).hexdigest() == e["sha256"], path
        info = z.getinfo("weights/variables.safetensors")
        f.seek(info.header_offset)
        local = f.read(30)
        at = info.header_offset + 30 + sum(struct.unpack("<HH", local[26:]))
        assert info.compress_type == zipfile.ZIP_STORED and at % 64 == 0, at
        f.seek(at)
        n, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
        for v in doc["variables"]:
            e = header[v["value"]]
            f.seek(at + 8 + n + e["data_offsets"][0])
            got = np.fromfile(f, np.float32, int(np.prod(e["shape"]))).reshape(e["shape"])
            same(got, wanted("model.")[v["path"]], v["path"])


def read_npz():
    with np.load(os.path.join(work, "weights.npz"), allow_pickle=False) as f:
        for key, want in wanted("weights.").items():
            same(f[key], want, key)


def read_onnx():
    ort, onnx = module("onnxruntime"), module("onnx")
    name = os.path.join(work, "model.onnx")
    onnx.checker.check_model(onnx.load(name), full_check=True)
    s = ort.InferenceSession(name)
    all = wanted("model.")
    out = s.run(None, {s.get_inputs()[0].name: all["x"]})
    same(out[0], all["y"], "the output", units=4)


# What Tenon reads: each function writes files to the folder and returns what they hold.

rng = np.random.default_rng(0)
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def arrays():
    out = {t: rng.integers(0, 2 if t == "bool" else 100, (2, 3)).astype(t) for t in TYPES}
    out |= {"scalar": np.float32(2.5), "empty": np.zeros((0, 2), np.int64), "fortran": np.asfortranarray(rng.standard_normal((3, 2)))}
    return out


def path(name):
    return os.path.join(source, name)


def by_numpy():
    all = arrays()
    np.savez(path("stored.npz"), **all)
    np.savez_compressed(path("packed.npz"), **all)
    np.save(path("one.npy"), all["fortran"])
    np.save(path("text.npy"), np.array(["a", "größer", ""]))
    return {"stored.npz": all, "packed.npz": all, "one.npy": {"": all["fortran"]}, "text.npy": {"": np.array(["a", "größer", ""])}}


def by_safetensors():
    st = module("safetensors.numpy")
    all = {k: np.ascontiguousarray(v) for k, v in arrays().items()}
    st.save_file(all, path("plain.safetensors"), metadata={"k": "v"})
    halves = [dict(list(all.items())[:5]), dict(list(all.items())[5:])]
    index = {}
    for i, part in enumerate(halves, 1):
        name = f"model-0000{i}-of-00002.safetensors"
        st.save_file(part, path(name))
        index |= {k: name for k in part}
    with open(path("model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {"total_size": 1}, "weight_map": index}, f)
    return {"plain.safetensors": all, "model.safetensors.index.json": all}


def by_torch():
    torch = module("torch")
    all = {k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in arrays().items()}
    base = torch.arange(12.0).reshape(3, 4)
    all |= {"view": base[1:, ::2], "turned": base.T, "half": torch.tensor([1.5, -2.0], dtype=torch.bfloat16)}
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    torch.save(all, path("tensors.pt"))
    torch.save(net.state_dict(), path("net.bin"))
    torch.save({"model": net.state_dict(), "step": 3, "lr": 0.1}, path("checkpoint.pth"))
    plain = lambda d: {k: v.detach().float().numpy() if v.dtype == torch.bfloat16 else v.detach().numpy() for k, v in d.items()}
    state = plain(net.state_dict())
    return {"tensors.pt": plain(all), "net.bin": state, "checkpoint.pth": {"model." + k: v for k, v in state.items()}}


def by_tensorflow():
    tf = module("tensorflow")
    all = {k: np.ascontiguousarray(v) for k, v in arrays().items()}
    root = tf.train.Checkpoint(**{k: tf.Variable(v) for k, v in all.items()})
    root.write(path("checkpoint.tf"))
    keep = {k + "/.ATTRIBUTES/VARIABLE_VALUE": v for k, v in all.items()}
    return {"checkpoint.tf.index": keep}


def by_gguf():
    gguf = module("gguf")
    w = gguf.GGUFWriter(path("plain.gguf"), "test")
    all = {"a": rng.standard_normal((4, 32)).astype(np.float32), "b": rng.standard_normal((2, 32)).astype(np.float16)}
    for k, v in all.items():
        w.add_tensor(k, v)
    big = rng.standard_normal((2, 64)).astype(np.float32)
    q = gguf.quants.quantize(big, gguf.GGMLQuantizationType.Q8_0)
    w.add_tensor("q", q, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return {"plain.gguf": all | {"q": gguf.quants.dequantize(q, gguf.GGMLQuantizationType.Q8_0)}}


def by_onnx():
    onnx = module("onnx")
    from onnx import TensorProto, helper, numpy_helper
    import onnx.reference
    w, b = rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
         helper.make_node("LayerNormalization", ["r", "b"], ["y"], axis=-1), helper.make_node("ArgMax", ["y"], ["k"], axis=1)],
        "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4]), helper.make_tensor_value_info("k", TensorProto.INT64, ["n", 1])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x = rng.standard_normal((5, 3)).astype(np.float32)
    y, k = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    onnx.save(model, path("net.onnx"))
    os.mkdir(path("outside"))
    onnx.save(model, path("outside/net.onnx"), save_as_external_data=True, location="net.bin.in.data", size_threshold=0)
    for at in ["net", "outside/net"]:
        np.savez(path(at + ".in.npz"), x=x)
    return {"net.onnx": {"y": y, "k": k}, "outside/net.onnx": {"y": y, "k": k}}


def main():
    failed = 0

    def step(f, check=lambda x: None):
        nonlocal failed
        try:
            check(f())
            print(f"{f.__name__}: passed", flush=True)
        except Missing as e:
            print(f"{f.__name__}: left out, {e} is not installed", flush=True)
        except Exception as e:
            failed += 1
            print(f"{f.__name__}: FAILED: {type(e).__name__}: {e}", flush=True)

    subprocess.run([program, "write", work], check=True)
    for f in [read_safetensors, read_zip, read_npz, read_onnx]:
        step(f)

    def read(files):
        subprocess.run([program, "read", work], check=True)
        for name, all in files.items():
            with np.load(path(name) + ".got.npz") as got:
                extra = set(got.files) - {k or "arr_0" for k in all} - {"_CHECKPOINTABLE_OBJECT_GRAPH", ""}
                assert not extra, f"{name} has {sorted(extra)}"
                for k, want in all.items():
                    same(got[k], want, f"{name}: {k}", units=16 if name.endswith("onnx") and want.dtype.kind == "f" else 0)
        for f in glob.glob(os.path.join(source, "*")):
            (shutil.rmtree if os.path.isdir(f) else os.remove)(f)

    for f in [by_numpy, by_safetensors, by_torch, by_tensorflow, by_gguf, by_onnx]:
        step(f, read)
    shutil.rmtree(work)
    sys.exit(failed > 0)


main()
