package saved_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// hostileSpec is the Spec of a type that keeps no promise: bytes say what each method does.
type hostileSpec struct {
	code  []byte
	depth int
}

type hostileValue struct{ spec *hostileSpec }

var errHostile = errors.New("hostile")

func (v hostileValue) Spec() tenon.Spec { return v.spec }

func (s *hostileSpec) at(i int) byte {
	if len(s.code) == 0 {
		return 0
	}
	return s.code[i%len(s.code)]
}

func (s *hostileSpec) below(i int) *hostileSpec {
	return &hostileSpec{append(s.code[min(i+1, len(s.code)):len(s.code):len(s.code)], byte(i)), s.depth + 1}
}

func (s *hostileSpec) TypeName() string {
	return []string{"fuzz_test.Hostile", "", "ragged.Tensor", "a b", "tensor.Tensor"}[s.at(0)%5]
}

func (s *hostileSpec) Encode() tenon.Encoding {
	return []tenon.Encoding{nil, tenon.Int(s.at(1)), tenon.Tuple{nil}, tenon.Str("\xff"), tenon.SpecOf{}, tenon.List{tenon.SpecOf{Spec: tensor.Scalar(1.0).Spec()}}}[s.at(1)%6]
}

func (s *hostileSpec) Components() (out []tenon.Field) {
	for i := range int(s.at(2) % 4) {
		f := tenon.Field{Name: []string{"a", "", "b", "a", "x.y"}[s.at(3+i)%5], Spec: tensor.Scalar(int8(1)).Spec()}
		switch c := s.at(4 + i); {
		case c%4 == 0 && s.depth < 3:
			f.Spec = s.below(i)
		case c%4 == 1:
			f.Spec = nil
		}
		out = append(out, f)
	}
	return out
}

func (s *hostileSpec) Disassemble(tenon.Value) (out []tenon.Value, err error) {
	n := int(s.at(2) % 4)
	switch s.at(5) % 5 {
	case 0:
		return nil, errHostile
	case 1:
		n++
	case 2:
		n = max(0, n-1)
	}
	for i := range n {
		switch c := s.at(6 + i); {
		case c%4 == 0 && s.depth < 3:
			out = append(out, hostileValue{s.below(i)})
		case c%4 == 1:
			out = append(out, nil)
		case c%4 == 2:
			out = append(out, tensor.Of([]string{"a"}))
		default:
			out = append(out, tensor.Scalar(int8(1)))
		}
	}
	return out, nil
}

func (s *hostileSpec) Assemble([]tenon.Value) (tenon.Value, error) {
	switch s.at(7) % 4 {
	case 0:
		return nil, errHostile
	case 1:
		return nil, nil
	case 2:
		return tensor.Scalar(1.0), nil
	}
	return hostileValue{s}, nil
}

// FuzzHostileSpecs gives types that keep no promise to what works with any type: there may be
// errors, but no panic and no file that cannot be read.
func FuzzHostileSpecs(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 3, 3, 3, 3})
	f.Add([]byte{0, 1, 3, 0, 2, 4, 1, 2, 3, 0, 5})
	f.Add([]byte{2, 4, 1, 0, 0, 3, 0, 3})
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{4, 3, 3, 1, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > 64 {
			return
		}
		v := hostileValue{&hostileSpec{code: code}}
		s := v.Spec()
		for name, call := range map[string]func() error{
			"check":    func() error { return tenon.Check(v) },
			"text":     func() error { _ = tenon.Text(s) + tenon.String(s); return nil },
			"relation": func() error { _ = tenon.Equal(s, s) && tenon.Compatible(s, s) && tenon.Belongs(v, s); return nil },
			"flatten":  func() error { _, err := nest.Flatten(map[string]any{"a": v}, nest.Options{Expand: true}); return err },
			"equal":    func() error { _ = tensor.Equal(v, v); return nil },
			"close":    func() error { return tensor.AllClose(v, v) },
			"json":     func() error { _, err := tensor.AppendJSON(nil, v); return err },
			"plain":    func() error { _, err := tensor.FromPlain(map[string]any{"a": 1, "": nil}, s); return err },
			"log":      func() error { _ = tensor.LogValue(v).String(); return nil },
			"binary": func() error {
				_, _, err := tenon.DecodeBinary(tenon.AppendBinary(nil, s))
				return err
			},
			"file": func() error {
				var b bytes.Buffer
				if err := saved.Encode(&b, v); err != nil {
					return err
				}
				_, err := saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
				if err != nil {
					return fmt.Errorf("written and not read: %w", err)
				}
				return nil
			},
		} {
			if _, err := tenon.Try(func() error { return call() }); err != nil && !errors.Is(err, errHostile) {
				var e *tenon.Error
				if !errors.As(err, &e) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}
