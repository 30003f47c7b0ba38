package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	asStruct := func(x any) *structured.Tensor { return cases.As[*structured.Tensor](x) }
	defineExpressions(map[string]func(x *application) any{
		"structured.field": func(x *application) any {
			return tenon.Must(asStruct(x.args[0]).Field(namesArg(x.Attrs["path"])...))
		},
		"structured.with_field": func(x *application) any {
			u := structured.Update{Path: []string{x.AttrStr("name", "")}, Value: cases.As[tensor.Tensor](x.args[1])}
			return tenon.Must(asStruct(x.args[0]).WithUpdates([]structured.Update{u}))
		},
	})
}
