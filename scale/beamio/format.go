package beamio

import (
	"fmt"
	"path"
	"strings"

	"github.com/tenonml/tenon"
)

// A Format is a file format.
type Format int

// The supported formats.
const (
	ByName    Format = iota // by the extension: .jsonl, .ndjson, .json, .parquet, .arrow, .feather, .tfrecord
	JSONLines               // package jsonl
	Parquet                 // package parquetio
	Arrow                   // Arrow IPC files, package arrowio
	TFRecord                // package protoio: messages, as a tensor of strings
)

var extensions = map[Format]string{JSONLines: ".jsonl", Parquet: ".parquet", Arrow: ".arrow", TFRecord: ".tfrecord"}

// of returns the format of a file.
func (f Format) of(name string) (Format, error) {
	if f != ByName {
		if _, ok := extensions[f]; !ok {
			return f, tenon.NewError(tenon.ErrInvalid, "beamio", fmt.Sprintf("there is no format %d", f))
		}
		return f, nil
	}
	base := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch path.Ext(base) {
	case ".jsonl", ".ndjson", ".json":
		return JSONLines, nil
	case ".parquet":
		return Parquet, nil
	case ".arrow", ".feather":
		return Arrow, nil
	case ".tfrecord", ".tfrecords":
		return TFRecord, nil
	}
	e := tenon.NewError(tenon.ErrInvalid, "beamio", fmt.Sprintf("the format of %s cannot be told from its name", name))
	e.Hint = "set it in the options"
	return f, e
}
