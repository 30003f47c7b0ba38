"""Requests to our server and to others, turn about, with one load generator: a line of JSON for each run, and the ratios.

    go build -o /tmp/bench ./internal/bench
    python3 internal/bench/rivals.py --bench /tmp/bench --peers ../shared/bench --fastapi VENV/bin/python --mlserver VENV/bin/python

All compute the same function: 64 numbers through two layers, in JSON of one row. FastAPI runs on uvicorn (uvloop, httptools) with NumPy, ONNX Runtime
or TensorFlow, and answers TensorFlow Serving's JSON. MLServer answers the Open Inference Protocol, in one
process: another one for the model would cost it a hop.
"""
import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

RUNTIME = """
import os, sys
sys.path.insert(0, os.environ["PEERS"])
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse
from peerlib.systemw import model

class Layers(MLModel):
    async def load(self):
        self.f = model("numpy", 1)
        return True

    async def predict(self, payload):
        y = self.f(NumpyCodec.decode_input(payload.inputs[0]))
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("y0", y)])
"""
FASTAPI = "import os, sys; sys.path.insert(0, os.environ['PEERS']); from peerlib.systemw import serve; serve(sys.argv[1], int(sys.argv[2]), 1)"


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A process that serves, with the body that it is sent and how its answer is read."""

    def __init__(self, name, url, body, command, read, env=None, cwd=None):
        self.name, self.url, self.read = name, url, read
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
        json.dump(body, self.file)
        self.file.close()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd=cwd, start_new_session=True)
        for _ in range(300):
            try:
                with open(self.file.name, "rb") as body:
                    request = urllib.request.Request(url, body.read(), {"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=5) as answer:
                    self.answer = read(json.load(answer))
                return
            except (OSError, ValueError):
                time.sleep(0.1)
        raise SystemExit(name + " does not answer")

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # with its workers
        self.process.wait()
        os.unlink(self.file.name)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bench", required=True)
    ap.add_argument("--peers", required=True, help="the folder with peerlib")
    ap.add_argument("--fastapi", help="a python that has fastapi and uvicorn")
    ap.add_argument("--kinds", default="numpy,onnxruntime,tensorflow")
    ap.add_argument("--mlserver", help="a python that has mlserver")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--seconds", type=float, default=3)
    ap.add_argument("--conns", type=int, default=8)
    a = ap.parse_args()
    sys.path.insert(0, a.peers)
    env = dict(os.environ, PEERS=os.path.abspath(a.peers), TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", OMP_NUM_THREADS="1")
    row = [((7 * i) % 31 - 15) / 16 for i in range(64)]
    rows = {"instances": [row]}
    tensor = {"inputs": [{"name": "x0", "datatype": "FP32", "shape": [1, 64], "data": row}]}

    def predictions(answer):
        return answer["predictions"][0]

    def outputs(answer):
        return answer["outputs"][0]["data"]

    servers, groups = [], []
    try:
        ours = port()
        base = "http://127.0.0.1:%d" % ours
        first = Server("tenon, instances", base + "/v1/models/m:predict", rows, [a.bench, "serve", "-addr", "127.0.0.1:%d" % ours], predictions)
        servers.append(first)
        if a.fastapi:
            group = [first]
            for kind in a.kinds.split(","):
                p = port()
                group.append(Server("fastapi+" + kind, "http://127.0.0.1:%d/v1/models/m:predict" % p, rows, [a.fastapi, "-c", FASTAPI, kind, str(p)], predictions, env))
                servers.append(group[-1])
            groups.append(group)
        if a.mlserver:
            group = [Server("tenon, infer", base + "/v2/models/m/infer", tensor, ["sleep", "1000000"], outputs)]
            servers.append(group[0])
            folder = tempfile.mkdtemp()
            http, grpc, metrics = port(), port(), port()
            with open(folder + "/runtime.py", "w") as f:
                f.write(RUNTIME)
            with open(folder + "/settings.json", "w") as f:
                json.dump({"http_port": http, "grpc_port": grpc, "metrics_port": metrics, "host": "127.0.0.1", "parallel_workers": 0, "debug": False}, f)
            with open(folder + "/model-settings.json", "w") as f:
                json.dump({"name": "m", "implementation": "runtime.Layers"}, f)
            command = [os.path.join(os.path.dirname(a.mlserver), "mlserver"), "start", "."]
            group.append(Server("mlserver", "http://127.0.0.1:%d/v2/models/m/infer" % http, tensor, command, outputs, dict(env, PYTHONPATH=folder), folder))
            servers.append(group[-1])
            groups.append(group)
        for s in servers[1:]:
            if len(s.answer) != 10 or max(abs(x - y) for x, y in zip(s.answer, first.answer)) > 1e-5:
                raise SystemExit("%s answers %r, want %r" % (s.name, s.answer, first.answer))
        for group in groups:
            qps = {s.name: [] for s in group}
            for _ in range(a.rounds):
                for s in group:
                    out = json.loads(subprocess.check_output([a.bench, "send", "-url", s.url, "-body", s.file.name, "-conns", str(a.conns), "-for", "%gs" % a.seconds]))
                    qps[s.name].append(out["qps"])
                    print(json.dumps({"server": s.name, "qps": round(out["qps"]), "min_ms": round(1e3 * out["min"], 3), "p50_ms": round(1e3 * out["p50"], 3), "p99_ms": round(1e3 * out["p99"], 3)}), flush=True)
            ours = qps[group[0].name]
            for s in group[1:]:
                ratios = [x / y for x, y in zip(ours, qps[s.name])]
                print("%s beside %s: %s times as many requests, median %.1f" % (group[0].name, s.name, ", ".join("%.1f" % r for r in ratios), statistics.median(ratios)), flush=True)
    finally:
        for s in servers:
            s.end()


if __name__ == "__main__":
    main()
