package howto

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

// orders are the records of docs/howto/records.md.
func orders() *structured.Tensor {
	return tenon.Must(jsonl.Read(jsonl.Bytes([]byte(`{"user": "ann", "orders": [{"cat": "tea", "price": 3.5}, {"cat": "cup", "price": 8}]}
{"user": "bob", "orders": []}
{"user": "eve", "orders": [{"cat": "tea", "price": 4}]}
`)), jsonl.Options{}))
}
