"""Writes the files in this folder that other programs' tests read: python make.py (pyarrow 26)."""
import datetime
import decimal

import numpy as np
import pyarrow as pa

base = pa.table({
    "int": pa.array([1, None, 3], pa.int16()),
    "bool": pa.array([True, False, True]),
    "text": pa.array(["a", "βγ", None]),
    "bytes": pa.array([b"\xff", b"", b"ok"], pa.binary()),
    "view": pa.array(["short", "a text that is longer than twelve bytes", None], pa.string_view()),
    "fixed": pa.array([b"abcd", b"efgh", b"ijkl"], pa.binary(4)),
    "day": pa.array([datetime.date(1970, 1, 2), datetime.date(1969, 12, 31), datetime.date(2000, 1, 1)]),
    "time": pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
    "list": pa.array([[1.5, None], None, []], pa.list_(pa.float32())),
    "nested": pa.array([[["x"], []], [], [["y", "z"]]], pa.large_list(pa.list_(pa.string()))),
    "pair": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.uint8(), 2)),
    "struct": pa.array([{"a": 1, "b": "u"}, None, {"a": None, "b": "w"}], pa.struct([("a", pa.int64()), ("b", pa.string())])),
    "points": pa.array([[{"x": 1.0, "y": [1]}], [], [{"x": 2.0, "y": []}, {"x": 3.0, "y": [2, 3]}]],
                       pa.list_(pa.struct([("x", pa.float64()), ("y", pa.list_(pa.int32()))]))),
    "map": pa.array([[("k", 1)], [], [("l", 2), ("m", 3)]], pa.map_(pa.string(), pa.int32())),
    "words": pa.array(["go", None, "go"]).dictionary_encode(),
    "codes": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.uint8()), pa.array([10, 20])),
    "sparse": pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 0, 3]), pa.array(["", "two", ""])], ["number", "string"]),
    "dense": pa.UnionArray.from_dense(pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 3]), pa.array(["two"])], ["number", "string"]),
    "null": pa.nulls(3),
    "truth": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 2], pa.int8())),
    "image": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), [2, 3], dim_names=["H", "W"]),
                                            pa.array(np.arange(18).reshape(3, 6).tolist(), pa.list_(pa.int32(), 6))),
    "turned": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), [2, 3], permutation=[1, 0]),
                                             pa.array(np.arange(18).reshape(3, 6).tolist(), pa.list_(pa.int32(), 6))),
})


def write(name, table, stream=False, compression=None, rows=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(name, table.schema, options=options) as w:
        w.write_table(table, max_chunksize=rows)


write("types.arrow", base)
write("types.arrows", base, stream=True, compression="zstd", rows=2)
write("slice.arrow", base.slice(1), compression="lz4")
variable = pa.table({"v": pa.array([{"data": [0, 1, 2, 3, 4, 5], "shape": [2, 3]}, {"data": [6, 7], "shape": [1, 2]}],
                                   pa.struct([("data", pa.list_(pa.int64())), ("shape", pa.list_(pa.int32(), 2))]))})
for name, meta in [("variable", '{"dim_names":["H","W"]}'), ("variable_turned", '{"permutation":[1,0]}')]:
    field = variable.schema.field(0).with_metadata({"ARROW:extension:name": "arrow.variable_shape_tensor", "ARROW:extension:metadata": meta})
    write(name + ".arrow", variable.cast(pa.schema([field])))
write("decimal.arrow", pa.table({"price": pa.array([decimal.Decimal("1.50")])}))
