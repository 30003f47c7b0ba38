#!/usr/bin/env python3
"""Computes features of nested records by Apache Beam in five ways, and compares the files byte for byte.

    python3 internal/beamtest/run.py [--records N] [--keep FOLDER]

The ways are the direct runner, Prism in the process, Prism as a server, a server with worker processes, and
a dataset on this machine. It needs Go, and the module proxy once.
"""
import argparse, os, resource, subprocess, sys, tempfile, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Prism of Beam 2.77.0 puts quotes around what it gives to the program that starts a worker.
BOOT = """#!/bin/sh
n=$#
while [ $n -gt 0 ]; do
  a=$(printf %%s "$1" | tr -d "'")
  shift
  set -- "$@" "$a"
  n=$((n-1))
done
exec %s "$@"
"""


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--records", type=int, default=100000)
    a.add_argument("--files", type=int, default=16)
    a.add_argument("--keep")
    a.add_argument("--skip", default="", help="ways to leave out, with commas between them")
    o = a.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        work = o.keep or os.path.join(tmp, "data")
        module = os.path.join(ROOT, "scale", "beamio")
        built = {}
        for name, package in (("features", "./features"), ("prism", "github.com/apache/beam/sdks/v2/go/cmd/prism"), ("boot", "github.com/apache/beam/sdks/v2/go/container")):
            built[name] = os.path.join(tmp, name)
            subprocess.check_call(["go", "build", "-o", built[name], package], cwd=module)
        records = os.path.join(work, "events")
        subprocess.check_call([built["features"], "-make", str(o.records), "-files", str(o.files), "-in", records])
        wrapper = os.path.join(tmp, "worker.sh")
        with open(wrapper, "w") as f:
            f.write(BOOT % built["boot"])
        os.chmod(wrapper, 0o755)
        log = open(os.path.join(tmp, "prism.log"), "w")
        server = subprocess.Popen([built["prism"], "-job_port", "18073", "-web_port", "18074", "-serve_http=true", "-idle_shutdown_timeout", "-1ms"], stdout=log, stderr=log, cwd=tmp)
        universal = ["--runner=universal", "--endpoint=localhost:18073"]
        ways = {
            "direct": ["--runner=direct"],
            "prism": ["--runner=prism"],
            "server": universal + ["--environment_type=LOOPBACK"],
            "workers": universal + ["--environment_type=PROCESS", '--environment_config={"command":"%s"}' % wrapper, "--worker_binary=" + built["features"]],
        }
        try:
            wait_for("http://localhost:18074/", server)
            for way, flags in ways.items():
                if way in o.skip.split(","):
                    continue
                out = os.path.join(work, way, "part")
                os.makedirs(os.path.dirname(out), exist_ok=True)
                start = time.time()
                p = subprocess.run([built["features"], "-in", records, "-out", out] + flags, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if p.returncode:
                    sys.exit("%s: status %d\n%s" % (way, p.returncode, p.stdout[-4000:]))
                print("%-8s %6.1f s" % (way, time.time() - start), flush=True)
                start = time.time()
                print(subprocess.check_output([built["features"], "-in", records, "-verify", out], text=True).strip(), "(%.1f s)" % (time.time() - start), flush=True)
        finally:
            server.terminate()
            server.wait()
        print("most memory of a process: %d MB" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024))
        print("PASS")


def wait_for(url, process):
    for _ in range(100):
        if process.poll() is not None:
            sys.exit("Prism has ended with status %d" % process.returncode)
        try:
            urllib.request.urlopen(url).read()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("Prism does not answer")


main()
