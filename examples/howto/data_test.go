package howto

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// orders are the records of docs/howto/records.md.
func orders() *structured.Tensor {
	return tenon.Must(jsonl.Read(jsonl.Bytes([]byte(`{"user": "ann", "orders": [{"cat": "tea", "price": 3.5}, {"cat": "cup", "price": 8}]}
{"user": "bob", "orders": []}
{"user": "eve", "orders": [{"cat": "tea", "price": 4}]}
`)), jsonl.Options{}))
}

// kind prints the error of an expression, for docs/reference/errors.md.
func kind(f func() tensor.Tensor) {
	_, err := tenon.Try(f)
	var e *tenon.Error
	errors.As(err, &e)
	fmt.Println(e.Kind, "|", e.Op, "|", e.Msg, "|", e.Hint)
}
