"""Reads what the program beside this writes with pyarrow, polars and duckdb, and compares it with the JSON lines.

    pip install pyarrow polars duckdb
    go run ./internal/rivals DIR && python internal/rivals/read.py DIR
"""
import base64, datetime, decimal, json, os, sys, uuid

import duckdb, polars, pyarrow.compute, pyarrow.feather, pyarrow.parquet, pyarrow.parquet.encryption


def same(have, text, name):
    """Whether a value of a library is the one that a line has as JSON."""
    if name == "numbers":  # a map: pairs, or a dictionary
        pairs = list(have.items()) if isinstance(have, dict) else [(x["key"], x["value"]) if isinstance(x, dict) else tuple(x) for x in have]
        return pairs == [(x["key"], x["value"]) for x in text]
    if isinstance(text, dict):
        return have is not None and have.keys() == text.keys() and all(same(have[k], text[k], k) for k in text)
    if isinstance(text, list) and have is not None:
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


def differ(who, rows, lines):
    """Says whether rows are those of the lines; one where they are not."""
    wrong = [(i, k, row[k], line[k]) for i, (row, line) in enumerate(zip(rows, lines)) for k in line if not same(row[k], line[k], k.removesuffix("_rows"))]
    if len(rows) != len(lines):
        wrong.append(("rows", len(rows), len(lines)))
    print(who, "differs:" if wrong else "has the same records", *wrong[:5])
    return len(wrong) > 0


def elements(folder, duck):
    """Reads the files with elements of all types."""
    lines = [json.loads(line) for line in open(os.path.join(folder, "all.jsonl"))]
    file, arrow = os.path.join(folder, "all.parquet"), os.path.join(folder, "all.arrow")
    found = {
        "pyarrow, Parquet": pyarrow.parquet.read_table(file).to_pylist(),
        "pyarrow, Arrow": pyarrow.feather.read_table(arrow).to_pylist(),
        "polars, Parquet": polars.read_parquet(file).to_dicts(),
        "polars, Arrow": polars.read_ipc(arrow).to_dicts(),
        "duckdb, Parquet": duck(file, "true"),
    }
    return sum(differ(who, rows, lines) for who, rows in found.items())


def many(folder, duck):
    """Reads the files with many row groups, whole and with conditions."""
    lines = [json.loads(line) for line in open(os.path.join(folder, "many.jsonl"))]
    conditions = {
        "run = 17": (lambda r: r["run"] == 17, polars.col("run") == 17, pyarrow.compute.field("run") == 17),
        "i >= 4321": (lambda r: r["i"] >= 4321, polars.col("i") >= 4321, pyarrow.compute.field("i") >= 4321),
        "word = 'word42'": (lambda r: r["word"] == "word42", polars.col("word") == "word42", pyarrow.compute.field("word") == "word42"),
        "x > 2.5": (lambda r: r["x"] is not None and r["x"] > 2.5, polars.col("x") > 2.5, pyarrow.compute.field("x") > 2.5),
        "flag": (lambda r: r["flag"] is True, polars.col("flag"), pyarrow.compute.field("flag") == True),
        "text < 'text -9'": (lambda r: r["text"] < "text -9", polars.col("text") < "text -9", pyarrow.compute.field("text") < "text -9"),
    }
    bad = 0
    for codec in ["zstd", "none", "snappy", "gzip", "lz4"]:
        file = os.path.join(folder, f"many-{codec}.parquet")
        meta = pyarrow.parquet.ParquetFile(file).metadata
        assert meta.num_row_groups == 8 and meta.row_group(0).column(0).has_offset_index and meta.row_group(0).column(0).has_column_index
        bad += differ(f"pyarrow, {codec}", pyarrow.parquet.ParquetFile(file, page_checksum_verification=True).read().to_pylist(), lines)
        bad += differ(f"polars, {codec}", polars.read_parquet(file).to_dicts(), lines)
        bad += differ(f"duckdb, {codec}", duck(file, "true"), lines)
        for text, (meets, expr, filter) in conditions.items():
            want = [r for r in lines if meets(r)]
            bad += differ(f"pyarrow, {codec}, {text}", pyarrow.parquet.read_table(file, filters=filter).to_pylist(), want)
            bad += differ(f"polars, {codec}, {text}", polars.scan_parquet(file).filter(expr).collect().to_dicts(), want)
            bad += differ(f"duckdb, {codec}, {text}", duck(file, text), want)
    file, key = os.path.join(folder, "sealed.parquet"), b"0123456789abcdef"
    keys = pyarrow.parquet.encryption.create_decryption_properties(key)
    bad += differ("pyarrow, encrypted", pyarrow.parquet.read_table(file, decryption_properties=keys).to_pylist(), lines)
    return bad


def main(folder):
    con = duckdb.connect()
    con.execute("SET TimeZone='UTC'")
    con.execute("SET preserve_insertion_order=true")

    def duck(file, condition):
        return con.sql(f"SELECT * FROM read_parquet(?) WHERE {condition}", params=[file]).to_arrow_table().to_pylist()

    return elements(folder, duck) + many(folder, duck) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
