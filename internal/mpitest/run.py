#!/usr/bin/env python3
"""Trains gosearch on two MPI processes, kills it, and goes on with one and with two.

    python3 internal/mpitest/run.py [--venv FOLDER] [--gosearch PROGRAM] [--epochs N]

Without --venv it makes an environment with mpich==5.0.2 in a temporary folder, and without --gosearch it
builds the program. The run that was killed twice, 2 -> 1 -> 2 ranks, has to have the losses of the one that
was not within 1e-3, and its weights within 1e-2 of the largest.
"""
import argparse, json, os, random, re, signal, struct, subprocess, sys, tempfile, venv

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def riddles(folder):
    """Go source whose names have none of the words of their comments."""
    random.seed(1)
    words = [a + b + c + d for a in "bdfgk" for b in "aeiou" for c in "bdglm" for d in "aeiou"][:200]
    os.makedirs(folder)
    with open(os.path.join(folder, "a.go"), "w") as f:
        f.write("package a\n")
        for i in range(300):
            ks = [random.randrange(len(words)) for _ in range(4)]
            f.write("\n// It " + " ".join(words[k] + " " + random.choice(words) for k in ks))
            f.write(".\nfunc " + "".join("S" + words[k] for k in ks) + str(i) + "() {}\n")


def weights(path):
    """The tensors of a safetensors file as lists of float32."""
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    return {k: struct.unpack("<%df" % ((v["data_offsets"][1] - v["data_offsets"][0]) // 4), data[slice(*v["data_offsets"])])
            for k, v in head.items() if k != "__metadata__" and v["dtype"] == "F32"}


def train(o, folder, ranks, until=None):
    """Trains, and kills all processes once an epoch is reported. Returns the loss of each epoch."""
    command = [o.gosearch, "-dir", folder, "train", "-epochs", str(o.epochs), "-ask", "It"]
    if ranks > 1:
        command = [os.path.join(o.venv, "bin", "mpiexec"), "-n", str(ranks)] + command + ["-ranks", str(ranks)]
    p = subprocess.Popen(command, env=o.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    losses, text = {}, ""
    for line in p.stdout:
        text += line
        m = re.match(r"epoch (\d+): loss ([\d.]+)", line)
        if m:
            losses[int(m[1])] = float(m[2])
            if int(m[1]) == until:
                os.killpg(p.pid, signal.SIGKILL)
                break
    p.stdout.close()
    if p.wait() != 0 and until is None:
        sys.exit("status %d:\n%s" % (p.returncode, text))
    return losses, text


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--venv")
    a.add_argument("--gosearch")
    a.add_argument("--epochs", type=int, default=16)
    o = a.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        if not o.venv:
            o.venv = os.path.join(tmp, "venv")
            venv.create(o.venv, with_pip=True)
            subprocess.check_call([os.path.join(o.venv, "bin", "pip"), "install", "-q", "mpich==5.0.2"])
        if not o.gosearch:
            o.gosearch = os.path.join(tmp, "gosearch")
            subprocess.check_call(["go", "build", "-o", o.gosearch, "./examples/gosearch"], cwd=ROOT)
        o.env = dict(os.environ, MPIR_CVAR_ENABLE_HEAVY_YIELD="1", PATH=os.path.join(o.venv, "bin") + os.pathsep + os.environ["PATH"])
        riddles(os.path.join(tmp, "src"))
        folders = [os.path.join(tmp, name) for name in ("whole", "killed")]
        for f in folders:
            subprocess.check_call([o.gosearch, "-dir", f, "index", "-src", os.path.join(tmp, "src")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        want, _ = train(o, folders[0], 2)
        got = {}
        for ranks, until in ((2, o.epochs // 3 + 1), (1, 2 * o.epochs // 3 + 1), (2, None)):
            losses, text = train(o, folders[1], ranks, until)
            got.update(losses)
            print("%d ranks, epochs %s%s" % (ranks, sorted(losses), ", killed" if until else ""))
        if "went on from step" not in text:
            sys.exit("the last part did not go on from a checkpoint:\n" + text)
        far = max(abs(got[e] - want[e]) for e in want)
        a, b = (weights(os.path.join(f, "model", "weights.safetensors")) for f in folders)
        apart = max(max(abs(x - y) for x, y in zip(a[k], b[k])) / max(map(abs, a[k])) for k in a)
        print("losses differ by %.4f at most, weights by %.1e of the largest" % (far, apart))
        if sorted(got) != sorted(want) or far > 1e-3 or apart > 1e-2:
            sys.exit("FAIL")
        print("PASS: 2 -> 1 -> 2 ranks")


main()
