"""tenon hub against registries and clients from elsewhere: Debian's docker-registry and skopeo, PyPI's oras and
huggingface_hub, and the conformance program of the distribution specification.

    apt-get install docker-registry skopeo
    python3 -m venv /tmp/clients && /tmp/clients/bin/pip install oras huggingface_hub
    go build -o /tmp/tenon ./cmd/tenon && /tmp/clients/bin/python internal/hubtest/clients.py /tmp/tenon

The conformance program is built from its module. What is not installed, or cannot be had, is said to be missing. The exit
status is 1 where something fails.
"""
import hashlib
import http.server
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

tenon = os.path.abspath(sys.argv[1])
PROGRAM = "github.com/opencontainers/distribution-spec/conformance@v0.0.0-20260831232431-97274622c111"
work = tempfile.mkdtemp(prefix="hubtest-")
os.environ["DOCKER_CONFIG"] = work
os.environ["TENON_HUB_CACHE"] = os.path.join(work, "cache")


def run(*args, cwd=None, env=None):
    p = subprocess.run(args, capture_output=True, text=True, cwd=cwd, env=env)
    if p.returncode:
        raise AssertionError(f"{' '.join(args)}: {p.stdout}{p.stderr}")
    return p.stdout.strip()


def hub(*args):
    return run(tenon, "hub", *args)


def same(a, b):
    if a != b:
        raise AssertionError(f"got {a!r}, want {b!r}")


def model():
    """A folder such as others keep models in."""
    folder = os.path.join(work, "model")
    files = {"model.safetensors": os.urandom(3 << 20), "config.json": b'{"layers": 2}', "sub/vocab.txt": b"a\nb\n", "README.md": b"# a model\n"}
    for name, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    return folder, files


def tree(folder):
    out = {}
    for at, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(at, name), "rb") as f:
                out[os.path.relpath(os.path.join(at, name), folder)] = f.read()
    return out


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def up(host):
    for _ in range(300):
        try:
            return urllib.request.urlopen(f"http://{host}/v2/").read()
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{host} does not answer")


def registries():
    """Starts what can be had, by names."""
    out, processes = {}, []
    host = f"127.0.0.1:{free()}"
    processes.append(subprocess.Popen([tenon, "hub", "serve", "--addr", host, os.path.join(work, "ours")], stdout=subprocess.DEVNULL))
    out["tenon hub serve"] = host
    if shutil.which("docker-registry"):
        host = f"127.0.0.1:{free()}"
        config = os.path.join(work, "registry.yml")
        with open(config, "w") as f:
            f.write(f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {work}/theirs}}, delete: {{enabled: true}}}}\nhttp: {{addr: '{host}'}}\n")
        processes.append(subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        out["docker-registry"] = host
    for host in out.values():
        up(host)
    return out, processes


def ourselves(host, folder, files):
    digest = hub("push", folder, f"{host}/team/m:v1")
    same(hub("push", folder, f"{host}/team/m:v2"), digest)
    hub("tag", f"{host}/team/m:v1", "stable")
    same(hub("list", f"{host}/team/m").split(), ["stable", "v1", "v2"])
    same(hub("copy", f"{host}/team/m@{digest}", f"{host}/other/m:1"), digest)
    same(hub("list", host).split(), ["other/m", "team/m"])
    os.environ["TENON_HUB_CACHE"] = tempfile.mkdtemp(dir=work)
    to = tempfile.mkdtemp(dir=work)
    hub("pull", f"{host}/other/m:1", to)
    same(tree(to), files)
    manifest = urllib.request.Request(f"http://{host}/v2/team/m/manifests/v1", headers={"Accept": "application/vnd.oci.image.manifest.v1+json"})
    body = urllib.request.urlopen(manifest).read()
    same("sha256:" + hashlib.sha256(body).hexdigest(), digest)
    same(json.loads(body)["artifactType"], "application/vnd.cncf.model.manifest.v1+json")


def skopeo(host, folder, files):
    digest = hub("push", folder, f"{host}/sk/m:v1")
    raw = subprocess.run(["skopeo", "inspect", "--raw", "--tls-verify=false", f"docker://{host}/sk/m:v1"], capture_output=True).stdout
    same("sha256:" + hashlib.sha256(raw).hexdigest(), digest)
    layout = tempfile.mkdtemp(dir=work)
    run("skopeo", "copy", "--src-tls-verify=false", "--insecure-policy", f"docker://{host}/sk/m:v1", f"oci:{layout}:air")
    to = os.path.join(tempfile.mkdtemp(dir=work), "to")
    hub("pull", f"oci:{layout}:air", to)  # what skopeo wrote
    same(tree(to), files)
    run("skopeo", "copy", "--dest-tls-verify=false", "--insecure-policy", f"oci:{layout}:air", f"docker://{host}/sk/back:1")
    to = os.path.join(tempfile.mkdtemp(dir=work), "to")
    hub("pull", f"{host}/sk/back:1", to)
    same(tree(to), files)
    same(json.loads(run("skopeo", "list-tags", "--tls-verify=false", f"docker://{host}/sk/m"))["Tags"], ["v1"])


def oras(host, folder, files):
    import oras.client

    client = oras.client.OrasClient(hostname=host, insecure=True, tls_verify=False)
    hub("push", folder, f"{host}/or/m:v1")
    to = tempfile.mkdtemp(dir=work)
    client.pull(target=f"{host}/or/m:v1", outdir=to)
    same(tree(to), files)
    here = os.getcwd()
    os.chdir(folder)
    try:
        client.push(target=f"{host}/or/theirs:v1", files=["model.safetensors", "config.json"], disable_path_validation=True)
    finally:
        os.chdir(here)
    to = os.path.join(tempfile.mkdtemp(dir=work), "to")
    hub("pull", f"{host}/or/theirs:v1", to)
    same(tree(to), {k: files[k] for k in ("model.safetensors", "config.json")})


COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HuggingFace(http.server.BaseHTTPRequestHandler):
    """The three calls of Hugging Face that downloads need."""

    files = {}
    asked = 0

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        HuggingFace.asked += 1
        path = self.path.split("?")[0]
        body, headers = None, {}
        if path.startswith("/api/models/org/name/revision/") or path == "/api/models/org/name":
            body = json.dumps({"id": "org/name", "modelId": "org/name", "sha": COMMIT, "siblings": [{"rfilename": n} for n in self.files], "tags": [], "private": False, "downloads": 0}).encode()
        elif path.startswith("/api/models/org/name/tree/"):
            body = json.dumps([{"type": "file", "path": n, "size": len(b), "oid": self.oid(b)} for n, b in self.files.items()]).encode()
        elif path.startswith("/org/name/resolve/"):
            body = self.files.get(path.split("/", 5)[5])
            if body is not None:
                headers = {"ETag": f'"{self.oid(body)}"', "X-Repo-Commit": COMMIT}
        if body is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            return
        first = 0
        if self.headers.get("Range"):
            first = int(self.headers["Range"].split("=")[1].split("-")[0])
            headers["Content-Range"] = f"bytes {first}-{len(body) - 1}/{len(body)}"
        self.send_response(206 if first else 200)
        for k, v in headers.items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[first:])

    @staticmethod
    def oid(b):
        return hashlib.sha1(b"blob %d\0" % len(b) + b).hexdigest()


def huggingface(files):
    """Either finds what the other has fetched, without asking again."""
    HuggingFace.files = files
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HuggingFace)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HUB_DISABLE_TELEMETRY": "1"}
    program = "import sys, huggingface_hub as h; print(h.snapshot_download('org/name', local_files_only=len(sys.argv) > 1))"
    for first in ("python", "tenon"):
        e = dict(os.environ, **env, HF_HOME=tempfile.mkdtemp(dir=work))
        steps = [lambda: run(sys.executable, "-c", program, env=e), lambda: run(tenon, "hub", "fetch", "hf:org/name", env=e)]
        dirs = [s() for s in (steps if first == "python" else steps[::-1])]
        same(dirs[0], dirs[1])
        same(tree(dirs[0]), files)
        before = HuggingFace.asked
        same(run(sys.executable, "-c", program, "offline", env=e), dirs[0])
        same(run(tenon, "hub", "fetch", "--offline", "hf:org/name", env=e), dirs[0])
        same(HuggingFace.asked, before)
    server.shutdown()


def conformance():
    """Builds the conformance program of the distribution specification, and returns None where it cannot be had."""
    if not shutil.which("go"):
        return None
    env = dict(os.environ, GOBIN=work, GOFLAGS="")
    p = subprocess.run(["go", "install", PROGRAM], capture_output=True, text=True, env=env, cwd=work)
    if p.returncode:
        print(p.stderr.strip())
        return None
    return os.path.join(work, "conformance")


def official(host, program):
    """Runs the conformance program of the distribution specification."""
    env = dict(os.environ, OCI_REGISTRY=host, OCI_TLS="disabled", OCI_REPO1="conf/one", OCI_REPO2="conf/two", OCI_RESULTS_DIR=work)
    p = subprocess.run([program], capture_output=True, text=True, env=env, cwd=work)
    text = p.stdout + p.stderr
    print("\n".join(l for l in text.splitlines() if ".:" in l))
    if p.returncode or "Fail" in text:
        raise AssertionError(text[-3000:])


def main():
    folder, files = model()
    hosts, processes = registries()
    failed = 0

    def part(name, there, f, *args):
        nonlocal failed
        if not there:
            print(f"missing  {name}")
            return
        try:
            f(*args)
            print(f"passed   {name}")
        except Exception as e:  # the others are run all the same
            failed += 1
            print(f"FAILED   {name}: {e}")

    try:
        part("docker-registry", "docker-registry" in hosts, lambda: None)
        for name, host in hosts.items():
            part(f"tenon hub with {name}", True, ourselves, host, folder, files)
            part(f"skopeo with {name}", shutil.which("skopeo"), skopeo, host, folder, files)
            part(f"oras with {name}", importlib.util.find_spec("oras"), oras, host, folder, files)
        part("huggingface_hub's cache", importlib.util.find_spec("huggingface_hub"), huggingface, files)
        program = conformance()
        part("conformance of tenon hub serve", program, official, hosts["tenon hub serve"], program)
    finally:
        for p in processes:
            p.terminate()
        for p in processes:
            p.wait()
        shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
