package decl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
)

// Write writes one JSON object a line. It stops between two records when ctx
// is done, with ctx's error.
func Write(ctx context.Context, w io.Writer, decls []Decl) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // "<" and ">" are common in Go and harmless here
	for i := range decls {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := enc.Encode(&decls[i]); err != nil {
			return err
		}
	}
	return nil
}

// ReadFile reads what [Write] wrote, as records in columns, and makes declarations of
// them. An error names the line that is wrong.
func ReadFile(path string) ([]Decl, error) {
	records, err := ReadRecords(path)
	var fault *jsonl.Error
	switch {
	case errors.As(err, &fault):
		return nil, fmt.Errorf("%s:%d: not a declaration: %w", path, fault.Line, err)
	case err != nil:
		return nil, err
	}
	decls, err := gostruct.To[Decl](records)
	if err == nil && len(decls) == 0 {
		return nil, fmt.Errorf("%s holds no declaration", path)
	}
	return decls, err
}

// ReadRecords reads declarations as a structured tensor. What a line lacks is empty.
func ReadRecords(path string) (*structured.Tensor, error) {
	schema, err := gostruct.SpecOf[Decl]()
	if err != nil {
		return nil, err
	}
	return jsonl.ReadFile(path, jsonl.Options{Schema: schema, SkipUnknown: true, Missing: structured.MissingDefault})
}
