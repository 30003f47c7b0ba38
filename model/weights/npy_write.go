package weights

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// WriteNPY writes a tensor as an .npy file: version 1.0 of the format, row-major,
// little-endian. Strings become UTF-32 with the width of the longest, as in NumPy. BFloat16,
// which NumPy lacks, is an error; cast it to float32 first.
func WriteNPY(w io.Writer, t tensor.Tensor) error {
	if err := writeNPY(w, t); err != nil {
		e := tenon.AsError(err)
		f := *e
		f.Op, f.Line = "weights.WriteNPY", source.Line()
		return &f
	}
	return nil
}

// WriteNPZ writes named tensors as an .npz archive, sorted by name and without timestamps, so
// that the same tensors give the same bytes.
func WriteNPZ(w io.Writer, tensors map[string]tensor.Tensor) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		r, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err == nil {
			err = writeNPY(r, tensors[name])
		}
		if err != nil {
			e := *tenon.AsError(err)
			e.Op, e.Where, e.Line = "weights.WriteNPZ", name, source.Line()
			return &e
		}
	}
	return z.Close()
}

func writeNPY(w io.Writer, t tensor.Tensor) error {
	switch t := t.(type) {
	case *tensor.Strings:
		return writeTexts(w, t)
	case *tensor.Dense:
		for descr, dt := range npyTypes {
			if dt != t.DType() {
				continue
			}
			order := "<"
			if dt.Size() == 1 {
				order = "|"
			}
			if err := writeNPYHeader(w, order+descr, t.Shape().Dims()); err != nil {
				return err
			}
			_, err := w.Write(tensor.Contiguous(t).Bytes())
			return err
		}
		return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf("NumPy does not have the type %v", t.DType()), Hint: "cast it to float32 first"}
	case nil:
		return &tenon.Error{Kind: tenon.ErrInvalid, Msg: "the tensor is nil"}
	}
	return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf("%s is not a dense tensor", tenon.String(t.Spec())), Hint: "write its components, or use package saved"}
}

func writeTexts(w io.Writer, t *tensor.Strings) error {
	texts, width := t.Slice(), 0
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the string %q is not valid UTF-8, but NumPy's strings consist of characters", s)}
		}
		width = max(width, utf8.RuneCountInString(s))
	}
	if err := writeNPYHeader(w, fmt.Sprintf("<U%d", width), t.Shape().Dims()); err != nil {
		return err
	}
	var b []byte
	for _, s := range texts {
		n := 0
		for _, r := range s {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
			n++
		}
		b = append(b, make([]byte, 4*(width-n))...)
	}
	_, err := w.Write(b)
	return err
}

// writeNPYHeader writes everything before the elements, which begin at a multiple of 64 bytes.
func writeNPYHeader(w io.Writer, descr string, dims []int) error {
	var sizes strings.Builder
	for i, d := range dims {
		if i > 0 {
			sizes.WriteString(" ")
		}
		fmt.Fprintf(&sizes, "%d,", d)
	}
	tuple := sizes.String()
	if len(dims) > 1 {
		tuple = strings.TrimSuffix(tuple, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	text += strings.Repeat(" ", (64-(10+len(text)+1)%64)%64) + "\n"
	head := append([]byte(npyMagic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(text)))
	_, err := w.Write(append(head, text...))
	return err
}
