#!/usr/bin/env python3
"""Trains gosearch on two MPI processes, kills them, or one of them, and goes on with one and with two. Then it runs the
tests of the packages that need MPI.

    python3 internal/mpitest/run.py [--venv FOLDER] [--gosearch PROGRAM] [--epochs N]

Without --venv it makes an environment with mpich==5.0.2 in a temporary folder, and without --gosearch it
builds the program. The run that was killed twice, 2 -> 1 -> 2 ranks, has to have the losses of the one that
was not within 1e-3, and its weights within 1e-2 of the largest.
"""
import argparse, json, os, random, re, signal, struct, subprocess, sys, tempfile, time, venv

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


def rank_of(program, launcher, rank):
    """The process of a rank that runs a program below a launcher."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                parents[int(pid)] = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    for pid in parents:
        above = pid
        while above not in (0, launcher):
            above = parents.get(above, 0)
        try:
            with open("/proc/%d/environ" % pid, "rb") as f:
                if above == launcher and os.path.realpath("/proc/%d/exe" % pid) == os.path.realpath(program) and b"PMI_RANK=%d" % rank in f.read().split(b"\0"):
                    return pid
        except OSError:
            pass
    sys.exit("there is no rank %d" % rank)


def kill_one(o, folder, shell):
    """Kills one of two processes within training. The launcher kills the other as soon as it sees the signal, and says so; below
    a shell it sees a status, and the other has to end with an error that names the rank."""
    quiet = ["sh", "-c", "trap '' USR1; \"$0\" \"$@\"; exit $?"] if shell else []
    command = [os.path.join(o.venv, "bin", "mpiexec")] + ["-disable-auto-cleanup"] * shell + ["-n", "2"] + quiet + [o.gosearch, "-dir", folder, "train", "-epochs", str(o.epochs), "-ask", "It", "-ranks", "2"]
    p = subprocess.Popen(command, env=o.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    text, killed = "", 0
    for line in p.stdout:
        text += line
        if line.startswith("epoch %d:" % (o.epochs // 3 + 1)) and not killed:
            killed = time.time()
            os.kill(rank_of(o.gosearch, p.pid, 1), signal.SIGKILL)
    p.stdout.close()
    status, took = p.wait(60), time.time() - killed
    said = re.search("rank 1 has died[^\n]*|PID \\d+ RUNNING AT[^\n]*", text)
    if status == 0 or not said or took > 30 or shell and not said[0].startswith("rank 1"):
        sys.exit("killed within a step: status %d after %.1f s\n%s" % (status, took, text))
    print("one of 2 ranks killed: the job ended %.1f s later, with %s" % (took, said[0]))


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
        folders = [os.path.join(tmp, name) for name in ("whole", "killed", "missed", "ended")]
        for f in folders:
            subprocess.check_call([o.gosearch, "-dir", f, "index", "-src", os.path.join(tmp, "src")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        want, _ = train(o, folders[0], 2)
        got = {}
        for ranks, until in ((2, o.epochs // 3 + 1), (1, 2 * o.epochs // 3 + 1), (2, None)):
            losses, text = train(o, folders[1], ranks, until)
            got.update(losses)
            print("%d ranks, epochs %s%s" % (ranks, sorted(losses), ", killed" if until else ""))
        if "resumed from step" not in text:
            sys.exit("the last part did not go on from a checkpoint:\n" + text)
        kill_one(o, folders[2], True)
        kill_one(o, folders[3], False)
        again, text = train(o, folders[2], 2)
        if "resumed from step" not in text or max(abs(again[e] - want[e]) for e in again) > 1e-3:
            sys.exit("the run of which a rank was killed did not go on as it should:\n" + text)
        print("it went on to epoch %d on 2 ranks" % max(again))
        far = max(abs(got[e] - want[e]) for e in got)  # what was printed as the processes were killed is lost
        a, b = (weights(os.path.join(f, "model", "weights.safetensors")) for f in folders[:2])
        apart = max(max(abs(x - y) for x, y in zip(a[k], b[k])) / max(map(abs, a[k])) for k in a)
        print("losses differ by %.4f at most, weights by %.1e of the largest" % (far, apart))
        if max(got) != max(want) or far > 1e-3 or apart > 1e-2:
            sys.exit("FAIL")
        print("2 -> 1 -> 2 ranks: as it should be")
        tests = subprocess.run(["go", "test", "-count=1", "-v", "-run", "TwoRanks|Crowded|LawsOverMPI", "./scale/dist/mpi", "./scale/mesh"], cwd=ROOT, env=o.env, stdout=subprocess.PIPE, text=True)
        print("\n".join(line for line in tests.stdout.split("\n") if re.match("ok|FAIL|--- |.*two processes|.*left out", line)))
        if tests.returncode or "left out" in tests.stdout:
            sys.exit("FAIL")
        print("PASS")


main()
