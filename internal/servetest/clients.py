"""Public clients against servetest: ovmsclient (TensorFlow Serving's calls), Triton's, pyarrow and schemathesis.

    python3 -m venv /tmp/clients && /tmp/clients/bin/pip install ovmsclient 'tritonclient[all]' pyarrow schemathesis
    go build -o /tmp/servetest ./internal/servetest && /tmp/clients/bin/python internal/servetest/clients.py /tmp/servetest

A client that is not installed is said to be missing. The exit status is 1 where one fails.
"""
import importlib.util
import subprocess
import sys
import tempfile
import urllib.request


def ovms(addr):
    import numpy as np
    import ovmsclient

    x = np.array([[1, 2], [3, 4]], np.float32)
    for make in (ovmsclient.make_grpc_client, ovmsclient.make_http_client):
        c = make(addr)
        grpc = make is ovmsclient.make_grpc_client
        same(np.asarray(c.predict({"x": x}, "echo_float32")), x)
        same(np.asarray(c.predict({"x": np.array([[b"a", b"bc"]])}, "echo_string")).tolist(), [[b"a", b"bc"]] if grpc else [["a", "bc"]])
        same(np.asarray(c.predict({"tokens.flat_values": np.array([1, 2, 3]), "tokens.row_splits.0": np.array([0, 1, 3])}, "ragged_sum")), [1, 5])
        status = c.get_model_status("axpy")
        same(status[1]["state"], "AVAILABLE")
        about = c.get_model_metadata("axpy")
        same(set((about if grpc else about["metadata"]["signature_def"]["signature_def"]["serving_default"])["inputs"]), {"a", "x", "y"})
        try:
            c.predict({"x": x}, "nothing")
            raise AssertionError("a model that is not there answers")
        except ovmsclient.tfs_compat.base.errors.ModelNotFoundError:
            pass


def triton(addr):
    import numpy as np
    import tritonclient.grpc as g
    import tritonclient.http as h

    for m in (h, g):
        c = m.InferenceServerClient(addr)
        same(c.is_server_ready() and c.is_model_ready("ragged_sum"), True)
        values = m.InferInput("tokens.flat_values", [3], "INT64")
        values.set_data_from_numpy(np.array([1, 2, 3]))
        splits = m.InferInput("tokens.row_splits.0", [3], "INT64")
        splits.set_data_from_numpy(np.array([0, 1, 3]))
        same(c.infer("ragged_sum", [values, splits], priority=1, timeout=1000000).as_numpy("sums"), [1, 5])
        names = [t["name"] if m is h else t.name for t in (c.get_model_metadata("ragged_sum")["inputs"] if m is h else c.get_model_metadata("ragged_sum").inputs)]
        same(names, ["tokens.flat_values", "tokens.row_splits.0"])
        c.close()
    results = []
    c = g.InferenceServerClient(addr)
    import threading
    done = threading.Event()
    c.start_stream(lambda result, error: (results.append(error or int(result.as_numpy("step"))), done.set() if len(results) == 3 else None))
    prompt = g.InferInput("prompt.flat_values", [2], "INT64")
    prompt.set_data_from_numpy(np.array([4, 5]))
    rows = g.InferInput("prompt.row_splits.0", [2], "INT64")
    rows.set_data_from_numpy(np.array([0, 2]))
    n = g.InferInput("n", [], "INT64")
    n.set_data_from_numpy(np.array(3))
    c.async_stream_infer("generate", [prompt, rows, n])
    done.wait(20)
    c.stop_stream()
    c.close()
    same(results, [0, 1, 2])


def arrow(addr):
    import pyarrow as pa

    rows = pa.record_batch({"tokens": pa.array([[1], [], [2, 3]], pa.list_(pa.int64()))})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as w:
        w.write_batch(rows)
    r = urllib.request.Request("http://%s/v2/models/ragged_sum/infer" % addr, sink.getvalue().to_pybytes(), {"Content-Type": "application/vnd.apache.arrow.stream"})
    with urllib.request.urlopen(r) as answer:
        same(pa.ipc.open_stream(answer.read()).read_all().to_pydict(), {"sums": [1, 0, 5]})


def schemathesis(addr):
    # Not "slow", which takes as long as it is told to, nor what fails on purpose; streams have no end in JSON.
    subprocess.run([sys.executable, "-m", "schemathesis.cli", "run", "http://%s/openapi.json" % addr, "--max-examples", "30", "--seed", "1", "--workers", "1", "--no-color",
                    "--exclude-path-regex", "/call/(slow|fail|generate|tick)$", "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
                    "--suppress-health-check", "all"], check=True, cwd=tempfile.mkdtemp())  # where it keeps what it found


def same(got, want):
    got, want = (x.tolist() if hasattr(x, "tolist") else x for x in (got, want))
    if got != want:
        raise AssertionError("got %r, want %r" % (got, want))


def main():
    server = subprocess.Popen([sys.argv[1], "-addr", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        addr = next(w for w in server.stdout.readline().split() if w.startswith("127."))
        bad = 0
        for module, run in (("ovmsclient", ovms), ("tritonclient", triton), ("pyarrow", arrow), ("schemathesis", schemathesis)):
            if importlib.util.find_spec(module) is None:
                print(module, "is missing")
                continue
            try:
                run(addr)
                print(module, "passed", flush=True)
            except Exception as e:
                bad += 1
                print(module, "FAILED:", type(e).__name__, e, flush=True)
        return bad > 0
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
