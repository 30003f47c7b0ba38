"""A soak: mixed calls for a long time, each answer checked, and the memory of the server as it goes.

    go build -o /tmp/servetest ./internal/servetest
    python3 internal/servetest/soak.py --cmd '/tmp/servetest -addr 127.0.0.1:0' --minutes 10 --rate 300

Needs nothing but Python 3.9 and Linux. Ends with 1 where an answer was wrong, or where the memory of the last third of the
time is more than that of the second by a tenth. The first third is not compared, as caches fill in it.
"""
import argparse
import http.client
import json
import random
import re
import shlex
import statistics
import subprocess
import sys
import threading
import time


def sums(r, k):
    rows = [[k] * r.randrange(8) for _ in range(1 + r.randrange(6))]
    return "/call/ragged_sum", {"tokens": rows}, 200, lambda a: a["sums"] == [sum(x) for x in rows]


def records(r, k):
    rec = [{"id": k + i, "name": "n" * r.randrange(9), "tags": ["t"] * r.randrange(4), "items": [{"price": 2.0, "qty": q} for q in range(r.randrange(4))],
            "note": r.choice([None, "void", "x"])} for i in range(1 + r.randrange(4))]
    want = [{"id": x["id"], "total": 0.0 if x["note"] == "void" else sum(2.0 * i["qty"] for i in x["items"]), "ntags": len(x["tags"])} for x in rec]
    return "/call/score", {"records": rec}, 200, lambda a: a["result"] == want


def tensors(r, k):
    body = {"id": str(k), "inputs": [{"name": n, "datatype": "FP32", "shape": s, "data": d} for n, s, d in (("a", [], [2]), ("x", [2], [k % 1000, 1]), ("y", [2], [1, 2]))]}
    return "/v2/models/axpy/infer", body, 200, lambda a: a["id"] == str(k) and a["outputs"][0]["data"] == [2 * (k % 1000) + 1, 4]


def stream(r, k):
    n = r.randrange(4)
    return "/call/generate", {"prompt": [[k % 1000], []], "n": n}, 200, lambda a: [x["token"] for x in a] == [[(k + i) % 1000, i] for i in range(n)]


def fault(r, k):
    return "/call/ragged_sum", {"tokens": [["no number"]]}, 400, lambda a: "tokens[0][0]" in a["error"]


def panic(r, k):
    return "/call/fail", {"kind": "panic"}, 500, lambda a: "error" in a


CALLS = [sums] * 6 + [records] * 4 + [tensors] * 4 + [stream, fault, panic]


class Client(threading.Thread):
    def __init__(self, number, host, rate, end):
        super().__init__(daemon=True)
        self.number, self.host, self.rate, self.end = number, host, rate, end
        self.calls, self.wrong = 0, []

    def run(self):
        r = random.Random(self.number)
        c = http.client.HTTPConnection(self.host, timeout=60)
        due = time.monotonic()
        while time.monotonic() < self.end:
            k = self.number * 10_000_000 + self.calls
            path, body, status, check = r.choice(CALLS)(r, k)
            try:
                c.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
                a = c.getresponse()
                text = a.read().decode()
                answer = [json.loads(line) for line in text.splitlines()] if path == "/call/generate" else json.loads(text)
                if a.status != status or not check(answer):
                    self.wrong.append((path, body, a.status, text[:200]))
            except (OSError, ValueError, KeyError, http.client.HTTPException) as e:
                self.wrong.append((path, body, 0, repr(e)))
                c.close()
            self.calls += 1
            due = max(due + 1 / self.rate, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))


def memory(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cmd", required=True)
    ap.add_argument("--minutes", type=float, default=10)
    ap.add_argument("--rate", type=float, default=300, help="calls a second, of all connections")
    ap.add_argument("--connections", type=int, default=4)
    o = ap.parse_args()
    server = subprocess.Popen(shlex.split(o.cmd), stdout=subprocess.PIPE, text=True)
    try:
        host = re.search(r"127\.0\.0\.1:\d+", server.stdout.readline()).group(0)
        start = time.monotonic()
        end = start + 60 * o.minutes
        clients = [Client(i + 1, host, o.rate / o.connections, end) for i in range(o.connections)]
        for c in clients:
            c.start()
        seen = []
        while time.monotonic() < end:
            time.sleep(min(10, max(0.1, end - time.monotonic())))
            seen.append(memory(server.pid))
            print("%5.0f s  %9d calls  %d wrong  %.1f MB" % (time.monotonic() - start, sum(c.calls for c in clients), sum(len(c.wrong) for c in clients), seen[-1]), flush=True)
        for c in clients:
            c.join(120)
    finally:
        server.kill()
        server.wait()
    wrong = [w for c in clients for w in c.wrong]
    for w in wrong[:5]:
        print("wrong:", *w)
    third = max(1, len(seen) // 3)
    middle, late = statistics.mean(seen[third:2 * third] or seen), statistics.mean(seen[-third:])
    print("%d calls, %d wrong; %.1f MB in the second third, %.1f MB in the last" % (sum(c.calls for c in clients), len(wrong), middle, late))
    return 1 if wrong or late > 1.1 * middle else 0


if __name__ == "__main__":
    sys.exit(main())
