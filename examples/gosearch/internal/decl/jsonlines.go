package decl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
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

// ReadFile reads what [Write] wrote. An error names the line that is wrong.
func ReadFile(path string) ([]Decl, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Decl
	r := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var d Decl
			if err := json.Unmarshal(line, &d); err != nil {
				return nil, fmt.Errorf("%s:%d: not a declaration: %w", path, n, err)
			}
			out = append(out, d)
		}
		if err == io.EOF {
			break
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no declaration", path)
	}
	return out, nil
}
