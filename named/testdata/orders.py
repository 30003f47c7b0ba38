# Writes orders.json: contractions of 11 to 100 tensors with the operations of the best order
# that opt_einsum 3.4.0 finds among its methods (dp where it ends, auto-hq, random-greedy-128).
#
#   pip install opt_einsum numpy && python orders.py > orders.json
import json, random, sys
import opt_einsum as oe

def chain(r, n):
    return [[i, i + 1] for i in range(n)], [r.randint(2, 60) for _ in range(n + 1)], [0, n]

def ring(r, n):
    return [[i, (i + 1) % n] for i in range(n)], [r.randint(2, 30) for _ in range(n)], []

def tree(r, n, size):
    ts, sizes, keep = [[] for _ in range(n)], [], []
    for i in range(1, n):
        at = r.randrange(i)
        ts[at].append(len(sizes)); ts[i].append(len(sizes)); sizes.append(r.randint(2, size))
    for t in ts:
        if r.randrange(4) == 0:
            t.append(len(sizes)); keep.append(len(sizes)); sizes.append(2)
    return ts, sizes, keep

def caterpillar(r, n):  # a chain with a leg at each tensor, as a matrix product state
    h = n // 2
    ts, sizes = [[i, i + 1] for i in range(h)], [r.randint(4, 16) for _ in range(h + 1)]
    for i in range(h):
        ts[i].append(len(sizes)); ts.append([len(sizes)]); sizes.append(r.randint(2, 5))
    return ts, sizes, [0, h]

def graph(r, n, degree):  # a tree with further names between any two
    ts, sizes, keep = tree(r, n, 4)
    for _ in range(int(n * (degree - 2) / 2)):
        a, b = r.sample(range(n), 2)
        ts[a].append(len(sizes)); ts[b].append(len(sizes)); sizes.append(r.randint(2, 4))
    return ts, sizes, keep

def grid(r, w, h):
    ts, sizes = [[] for _ in range(w * h)], []
    def edge(a, b):
        ts[a].append(len(sizes)); ts[b].append(len(sizes)); sizes.append(r.randint(2, 4))
    for y in range(h):
        for x in range(w):
            if x + 1 < w: edge(y * w + x, y * w + x + 1)
            if y + 1 < h: edge(y * w + x, y * w + x + w)
    return ts, sizes, []

def hyper(r, n):  # names that three tensors share
    ts, sizes, keep = tree(r, n, 5)
    for _ in range(n // 4):
        for t in r.sample(range(n), 3):
            ts[t].append(len(sizes))
        sizes.append(r.randint(2, 4))
    return ts, sizes, keep

def best(ts, sizes, keep):
    word = lambda t: "".join(oe.get_symbol(i) for i in t)
    args = [",".join(map(word, ts)) + "->" + word(keep)] + [tuple(sizes[i] for i in t) for t in ts]
    methods = ["auto-hq", "random-greedy-128"] + (["dp"] if len(ts) <= 30 else [])
    costs = {}
    for m in methods:
        try:
            costs[m] = float(oe.contract_path(*args, shapes=True, optimize=m)[1].opt_cost)
        except Exception as e:
            print(m, len(ts), e, file=sys.stderr)
    m = min(costs, key=costs.get)
    return m, costs[m]

r, out = random.Random(7), []
def add(kind, net):
    ts, sizes, keep = net
    order = list(range(len(ts))); r.shuffle(order)
    ts = [ts[i] for i in order]
    method, cost = best(ts, sizes, keep)
    out.append(dict(kind=kind, tensors=ts, sizes=sizes, keep=keep, method=method, operations=cost))
    print(kind, len(ts), method, f"{cost:.4g}", file=sys.stderr, flush=True)

for n in (11, 15, 20, 30, 50, 75, 100): add("chain", chain(r, n))
for n in (12, 40, 80): add("ring", ring(r, n))
for n in (11, 16, 25, 40, 60, 80, 100): add("tree", tree(r, n, 12))
for n in (12, 30, 60, 100): add("caterpillar", caterpillar(r, n))
for n, d in ((11, 3), (14, 3), (20, 2.6), (30, 2.6), (40, 2.4), (60, 2.4), (100, 2.3)): add("graph", graph(r, n, d))
for w, h in ((4, 3), (5, 5), (8, 4)): add("grid", grid(r, w, h))
for n in (12, 20, 35): add("hyper", hyper(r, n))
print("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]")
