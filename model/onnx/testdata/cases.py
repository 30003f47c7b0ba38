"""Copies the cases of ONNX's own suite out of the Python package onnx 1.22.0, which has them.

    python cases.py DIR            all of them, for TENON_ONNX_CASES=DIR go test ./model/onnx
    python cases.py cases.tar.gz   those that are kept here: the small ones
"""

import io
import os
import shutil
import sys
import tarfile

import gzip

import onnx

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
GROUPS = ["node", "simple", "pytorch-converted", "pytorch-operator"]


def files(folder):
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            yield os.path.join(at, name)


def size(folder):
    return sum(os.path.getsize(f) for f in files(folder))


def kept(group, case):
    folder = os.path.join(DATA, group, case)
    if group == "node":
        return not case.endswith("_expanded") and size(folder) < 900
    return size(folder) < 3000


def main(target):
    if not target.endswith(".tar.gz"):
        for group in GROUPS:
            shutil.copytree(os.path.join(DATA, group), os.path.join(target, group), dirs_exist_ok=True)
        return
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for group in GROUPS:
            for case in sorted(os.listdir(os.path.join(DATA, group))):
                if not kept(group, case):
                    continue
                for f in files(os.path.join(DATA, group, case)):
                    info = tarfile.TarInfo(os.path.relpath(f, DATA))
                    info.size = os.path.getsize(f)
                    with open(f, "rb") as data:
                        tar.addfile(info, data)
    with open(target, "wb") as f:
        f.write(gzip.compress(out.getvalue(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
