"""Reads what the program beside this writes with pyarrow, polars and duckdb, and compares it with the JSON lines.

    pip install pyarrow polars duckdb
    go run ./internal/rivals DIR && python internal/rivals/read.py DIR
"""
import base64, datetime, decimal, json, os, sys, uuid

import duckdb, polars, pyarrow.feather, pyarrow.parquet


def same(have, text, name):
    """Whether a value of a library is the one that a line has as JSON."""
    if isinstance(text, list):
        have = list(have)
        return len(have) == len(text) and all(same(x, y, name) for x, y in zip(have, text))
    if have is None or text is None:
        return have is None and text is None
    if name == "id":
        if isinstance(have, bytes):
            have = uuid.UUID(bytes=have)
        return uuid.UUID(str(have)) == uuid.UUID(text)
    if isinstance(have, bytes):
        return have == base64.b64decode(text)
    if isinstance(have, datetime.datetime):
        want = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return have.astimezone(datetime.timezone.utc) == want if want.tzinfo else have.replace(tzinfo=None) == want
    if isinstance(have, datetime.date):
        return have == datetime.date.fromisoformat(text)
    if isinstance(have, datetime.time):
        return have == datetime.time.fromisoformat(text)
    if isinstance(have, decimal.Decimal):
        return str(have) == text
    return have == text


def main(folder):
    lines = [json.loads(line) for line in open(os.path.join(folder, "all.jsonl"))]
    file, arrow = os.path.join(folder, "all.parquet"), os.path.join(folder, "all.arrow")
    con = duckdb.connect()
    con.execute("SET TimeZone='UTC'")
    duck = con.sql("SELECT * FROM read_parquet(?)", params=[file]).to_arrow_table()
    found = {
        "pyarrow, Parquet": pyarrow.parquet.read_table(file).to_pylist(),
        "pyarrow, Arrow": pyarrow.feather.read_table(arrow).to_pylist(),
        "polars, Parquet": polars.read_parquet(file).to_dicts(),
        "polars, Arrow": polars.read_ipc(arrow).to_dicts(),
        "duckdb, Parquet": duck.to_pylist(),
    }
    bad = 0
    for who, rows in found.items():
        wrong = [(i, k, row[k], line[k]) for i, (row, line) in enumerate(zip(rows, lines)) for k in line if not same(row[k], line[k], k.removesuffix("_rows"))]
        if len(rows) != len(lines):
            wrong.append(("rows", len(rows), len(lines)))
        bad += len(wrong)
        print(who, "differs:" if wrong else "has the same records", *wrong[:5])
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
