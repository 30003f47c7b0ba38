package protoio_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func array[T dtype.Number](data []T, dims ...int) tenon.Array {
	d := tensor.Of(data, dims...).(*tensor.Dense)
	return tenon.Array{DType: d.DType(), Shape: d.Shape(), Data: string(d.Bytes())}
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The bytes are those that TensorFlow 2.21 writes.
func TestStructureAsTensorFlowWritesIt(t *testing.T) {
	spec := func(s tenon.Spec, err error) tenon.Encoding {
		if err != nil {
			t.Fatal(err)
		}
		return tenon.SpecOf{Spec: s}
	}
	for _, c := range []struct {
		name string
		e    tenon.Encoding
		b64  string
	}{
		{"row partition", spec(ragged.NewPartitionSpec(dtype.Int64, 2, shape.Unknown, shape.Unknown)),
			"kgJNCAoSNaIDMgoH+gEEEgIIAgoQ+gENEgsI////////////AQoQ+gENEgsI////////////AQoDgAIJGhBSb3dQYXJ0aXRpb25TcGVjIAE="},
		{"uniform row partition", spec(ragged.NewPartitionSpec(dtype.Int64, 2, 4, 2)),
			"kgI7CAoSI6IDIAoH+gEEEgIIAgoH+gEEEgIIBAoH+gEEEgIIAgoDgAIJGhBSb3dQYXJ0aXRpb25TcGVjIAE="},
		{"named tensor", spec(tensor.NewSpec(dtype.Float32, shape.Of(2)).Named("x"), nil), "igILCgF4EgQSAggCGAE="},
		{"bounds as bytes", spec(protoio.Bounded(tensor.NewSpec(dtype.Int32, shape.Of(2)), scalar(int32(0)), array([]int32{1, 2})), nil),
			"mgIlEgQSAggCGAMiBwgDEgA6AQAqEggDEgQSAggCIggBAAAAAgAAAA=="},
		{"bounds of a half", spec(protoio.Bounded(tensor.NewSpec(dtype.BFloat16, shape.Of(2)), scalar(dtype.BF16From(0)), scalar(dtype.BF16From(1))), nil),
			"mgIbEgQSAggCGA4iBwgOEgBqAQAqCAgOEgBqAoB/"},
		{"array", array([]int64{1, 2}), "wgMaCAkSBBICCAIiEAEAAAAAAAAAAgAAAAAAAAA="},
	} {
		got, err := protoio.AppendStructure(nil, c.e, protoio.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.b64 != "" && !bytes.Equal(got, unbase64(t, c.b64)) {
			t.Errorf("%s: got %s", c.name, base64.StdEncoding.EncodeToString(got))
		}
		back, err := protoio.DecodeStructure(got, protoio.Options{})
		if err != nil || !tenon.EqualEncoding(c.e, back) {
			t.Errorf("%s: got back %v, %v", c.name, back, err)
		}
	}
}

func scalar[T dtype.Native](x T) tenon.Array {
	d := tensor.Scalar(x).(*tensor.Dense)
	return tenon.Array{DType: d.DType(), Shape: d.Shape(), Data: string(d.Bytes())}
}

func TestReadOfTensorFlow(t *testing.T) {
	flat := "kgJeCAMSRqIDQwod+gEaEgsI////////////ARILCP///////////wEKA4ACAwoCYAIKA4ACCQoUigIREg0SCwj///////////8BGAMaEFJhZ2dlZFRlbnNvclNwZWMgAg=="
	e, err := protoio.DecodeStructure(unbase64(t, flat), protoio.Options{})
	want := tenon.Must(ragged.NewSpec(dtype.Int32, shape.Of(-1, -1), 1, dtype.Int64))
	if err != nil || !tenon.EqualEncoding(e, tenon.SpecOf{Spec: want}) {
		t.Errorf("a ragged Spec with flat values: %v, %v", e, err)
	}
	e, err = protoio.DecodeStructure(unbase64(t, "ugMSCAMSBBICCAIiCAEAAAACAAAA"), protoio.Options{})
	if err != nil || !tenon.EqualEncoding(e, array([]int32{1, 2})) {
		t.Errorf("a tensor: %v, %v", e, err)
	}
	// An extension type that nobody knows here.
	unknown := "kgJeCA0SQKIDPQoVogMSCgNqAXgKC4oCCBIEEgIIAhgBChGiAw4KA2oBeQoHigIEEgAYAQoRogMOCgdqBWxhYmVsCgNqAXAaFmNvbmZvcm1hbmNlLlBvaW50LlNwZWMgAg=="
	e, err = protoio.DecodeStructure(unbase64(t, unknown), protoio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, ok := e.(tenon.SpecOf).Spec.(*tenon.Opaque)
	if !ok || o.TypeName() != "conformance.Point" || len(o.Components()) != 2 {
		t.Fatalf("got %v", e)
	}
	again, err := protoio.AppendStructure(nil, e, protoio.Options{})
	if err != nil || !bytes.Equal(again, unbase64(t, unknown)) {
		t.Errorf("an unknown type is written as %x, %v", again, err)
	}
}

// The bytes are those that TensorFlow 2.21 writes for structured tensors.
func TestRecordSpecs(t *testing.T) {
	field := func(name string, s tenon.Spec) tenon.Field { return tenon.Field{Name: name, Spec: s} }
	i32 := func(dims ...int) tenon.Spec { return tensor.NewSpec(dtype.Int32, shape.Of(dims...)) }
	ragged2 := tenon.Must(ragged.NewSpec(dtype.Int32, shape.Of(2, -1), 1, dtype.Int64))
	inner := tenon.Must(structured.NewSpec(shape.Of(2), []tenon.Field{field("y", tensor.NewSpec(dtype.Float32, shape.Of(2)))}))
	for _, c := range []struct {
		b64    string
		shape  shape.Shape
		fields []tenon.Field
		exact  bool
	}{
		{"kgL8AQgNEtsBogPXAQozogMwCglqB19maWVsZHMKI6oDIAoMCgFhEgeKAgQSABgDChAKAWISC4oCCBIEEgIIAhgDCp8BogObAQoPag1fcmFnZ2VkX3NoYXBlCocBkgKDAQgNEmGiA14KG6IDGAoRag9fcm93X3BhcnRpdGlvbnMKA6IDAAoeogMbCg5qDF9pbm5lcl9zaGFwZQoJigIGEgISABgJCh+iAxwKFWoTX3N0YXRpY19pbm5lcl9zaGFwZQoD+gEAGhp0Zi5EeW5hbWljUmFnZ2VkU2hhcGUuU3BlYyABGhh0Zi5TdHJ1Y3R1cmVkVGVuc29yLlNwZWMgAw==",
			shape.Of(), []tenon.Field{field("a", i32()), field("b", i32(2))}, true},
		{"kgL2AggNEtUCogPRAgpcogNZCglqB19maWVsZHMKTKoDSQpHCgFhEkKSAj8IAxInogMkChT6ARESAggCEgsI////////////AQoDgAIDCgJgAgoDgAIJGhBSYWdnZWRUZW5zb3JTcGVjIAIK8AGiA+wBCg9qDV9yYWdnZWRfc2hhcGUK2AGSAtQBCA0SsQGiA60BCmSiA2EKEWoPX3Jvd19wYXJ0aXRpb25zCkyiA0kKR5ICRAgKEiyiAykKB/oBBBICCAIKB/oBBBICCAMKEPoBDRILCP///////////wEKA4ACCRoQUm93UGFydGl0aW9uU3BlYyABCiCiAx0KDmoMX2lubmVyX3NoYXBlCguKAggSBBICCAEYCQojogMgChVqE19zdGF0aWNfaW5uZXJfc2hhcGUKB/oBBBICCAMaGnRmLkR5bmFtaWNSYWdnZWRTaGFwZS5TcGVjIAIaGHRmLlN0cnVjdHVyZWRUZW5zb3IuU3BlYyAE",
			shape.Of(2, -1), []tenon.Field{field("a", ragged2)}, false}, // the number of all records is not part of a Spec here
		{"kgLnAwgNEsYDogPCAwqXAqIDkwIKCWoHX2ZpZWxkcwqFAqoDgQIK/gEKAXgS+AGSAvQBCA0S0wGiA88BCiWiAyIKCWoHX2ZpZWxkcwoVqgMSChAKAXkSC4oCCBIEEgIIAhgBCqUBogOhAQoPag1fcmFnZ2VkX3NoYXBlCo0BkgKJAQgNEmeiA2QKG6IDGAoRag9fcm93X3BhcnRpdGlvbnMKA6IDAAogogMdCg5qDF9pbm5lcl9zaGFwZQoLigIIEgQSAggBGAkKI6IDIAoVahNfc3RhdGljX2lubmVyX3NoYXBlCgf6AQQSAggCGhp0Zi5EeW5hbWljUmFnZ2VkU2hhcGUuU3BlYyABGhh0Zi5TdHJ1Y3R1cmVkVGVuc29yLlNwZWMgAgqlAaIDoQEKD2oNX3JhZ2dlZF9zaGFwZQqNAZICiQEIDRJnogNkChuiAxgKEWoPX3Jvd19wYXJ0aXRpb25zCgOiAwAKIKIDHQoOagxfaW5uZXJfc2hhcGUKC4oCCBIEEgIIARgJCiOiAyAKFWoTX3N0YXRpY19pbm5lcl9zaGFwZQoH+gEEEgIIAhoadGYuRHluYW1pY1JhZ2dlZFNoYXBlLlNwZWMgARoYdGYuU3RydWN0dXJlZFRlbnNvci5TcGVjIAM=",
			shape.Of(2), []tenon.Field{field("x", inner)}, true},
	} {
		want, err := structured.NewSpec(c.shape, c.fields)
		if err != nil {
			t.Fatal(err)
		}
		got, err := protoio.DecodeStructure(unbase64(t, c.b64), protoio.Options{})
		if err != nil || !tenon.Equal(got.(tenon.SpecOf).Spec, want) {
			t.Errorf("got %v, want %v, %v", got, want, err)
		}
		b, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: want}, protoio.Options{})
		if err != nil || c.exact && !bytes.Equal(b, unbase64(t, c.b64)) {
			t.Errorf("%v is written as %s, %v", want, base64.StdEncoding.EncodeToString(b), err)
		}
		if back, err := protoio.DecodeStructure(b, protoio.Options{}); err != nil || !tenon.EqualEncoding(back, tenon.SpecOf{Spec: want}) {
			t.Errorf("got back %v, %v", back, err)
		}
	}
	s := tenon.Must(ragged.ShapeFromLengths([]any{2, []int{1, 3}, 4}, ragged.ShapeOptions{})).Spec()
	b, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: s}, protoio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := protoio.DecodeStructure(b, protoio.Options{}); err != nil || !tenon.EqualEncoding(back, tenon.SpecOf{Spec: s}) {
		t.Errorf("got back %v, want %s, %v", back, tenon.Text(s), err)
	}
}

// Whatever Spec there is comes back.
func TestSpecsComeBack(t *testing.T) {
	dense := tensor.NewSpec(dtype.Float16, shape.Of(2, -1))
	optional, err := masked.NewSpec(dense, 1)
	if err != nil {
		t.Fatal(err)
	}
	records, err := structured.NewSpec(shape.Of(3), []tenon.Field{{Name: "a", Spec: tensor.NewSpec(dtype.String, shape.Of(3))}})
	if err != nil {
		t.Fatal(err)
	}
	deep, err := ragged.NewSpec(dtype.Complex64, shape.Of(2, -1, 3, -1, 5), 3, dtype.Int32)
	if err != nil {
		t.Fatal(err)
	}
	missing := ragged.FromSpecs(tenon.Must(masked.NewSpec(tensor.NewSpec(dtype.Int8, shape.Of(-1)), -1)), tenon.Must(ragged.NewSpec(dtype.Int8, shape.Of(-1, -1), 1, dtype.Int64)).Partitions())
	for _, s := range []tenon.Spec{dense, optional, records, deep, missing, sparse.NewSpec(dtype.Bool, shape.UnknownRank),
		tenon.NewOpaque("example.com/x.Y", tenon.Tuple{tenon.Int(1), tenon.SpecOf{Spec: dense}}, []tenon.Field{{Name: "component0", Spec: dense}})} {
		b, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: s}, protoio.Options{})
		if err != nil {
			t.Errorf("%s: %v", tenon.String(s), err)
			continue
		}
		back, err := protoio.DecodeStructure(b, protoio.Options{})
		if err != nil {
			t.Errorf("%s: %v", tenon.String(s), err)
			continue
		}
		if got := back.(tenon.SpecOf).Spec; !tenon.Equal(s, got) {
			t.Errorf("got %s, want %s", tenon.Text(got), tenon.Text(s))
		}
	}
}

func TestEveryDType(t *testing.T) {
	for _, d := range dtype.All() {
		b, err := protoio.AppendStructure(nil, tenon.DType{DType: d}, protoio.Options{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := protoio.DecodeStructure(b, protoio.Options{})
		if err != nil || back != (tenon.DType{DType: d}) {
			t.Errorf("%v comes back as %v, %v", d, back, err)
		}
		if d == dtype.String {
			continue
		}
		for _, n := range []int{0, 1, 3} {
			a := tenon.Array{DType: d, Shape: shape.Of(n), Data: strings.Repeat("\x01", n*d.Size())}
			b, err := protoio.AppendStructure(nil, a, protoio.Options{})
			if err != nil {
				t.Fatal(err)
			}
			back, err := protoio.DecodeStructure(b, protoio.Options{})
			if err != nil || !tenon.EqualEncoding(a, back) {
				t.Errorf("%d of %v come back as %v, %v", n, d, back, err)
			}
		}
	}
}

func TestTensorsInOtherForms(t *testing.T) {
	for _, c := range []struct {
		name, message string
		want          tenon.Encoding
	}{
		{"not packed", "\x08\x03\x12\x04\x12\x02\x08\x02\x38\x05\x38\x07", array([]int32{5, 7})},
		{"the last one fills", "\x08\x03\x12\x04\x12\x02\x08\x03\x3a\x02\x05\x07", array([]int32{5, 7, 7})},
		{"nothing is zeros", "\x08\x01\x12\x04\x12\x02\x08\x02", array([]float32{0, 0})},
		{"single float", "\x08\x01\x12\x00\x2d\x00\x00\x80\x3f", scalar(float32(1))},
		{"negative", "\x08\x03\x12\x00\x3a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", scalar(int32(-1))},
	} {
		b := append([]byte{0xc2, 0x03, byte(len(c.message))}, c.message...)
		got, err := protoio.DecodeStructure(b, protoio.Options{})
		if err != nil || !tenon.EqualEncoding(got, c.want) {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
	}
}

func TestStructureRefused(t *testing.T) {
	deep := []byte{}
	for range 200 {
		deep = append([]byte{0x0a}, append(appendLength(nil, len(deep)), deep...)...)       // an element
		deep = append([]byte{0x9a, 0x03}, append(appendLength(nil, len(deep)), deep...)...) // of a list
	}
	for name, b := range map[string]string{
		"nothing":            "",
		"cut off":            "\x6a\x05ab",
		"group":              "\x0b",
		"unknown dtype":      "\x80\x02\x63",
		"negative size":      "\xfa\x01\x0d\x12\x0b\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"no dtype":           "\x8a\x02\x02\x12\x00",
		"huge splat":         "\xc2\x03\x0a\x08\x01\x12\x06\x12\x04\x08\xff\xff\x7f",
		"content too short":  "\xc2\x03\x0b\x08\x03\x12\x04\x12\x02\x08\x02\x22\x01a",
		"boolean of 2":       "\xc2\x03\x0b\x08\x0a\x12\x04\x12\x02\x08\x01\x22\x01\x02",
		"strings":            "\xc2\x03\x09\x08\x07\x12\x02\x12\x00\x42\x01a",
		"variable":           "\x92\x02\x08\x08\x09\x12\x04\xa2\x03\x01\x00",
		"components differ":  "\x92\x02\x0d\x08\x0c\x12\x02\x60\x00\x1a\x03a.b\x20\x05",
		"nested too deep":    string(deep),
		"state of ragged":    "\x92\x02\x07\x08\x03\x12\x03\xa2\x03\x00",
		"extension no pairs": "\x92\x02\x0c\x08\x0d\x12\x02\x60\x00\x1a\x08a.b.Spec",
	} {
		got, err := protoio.DecodeStructure([]byte(b), protoio.Options{})
		if !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: got %v, %v, want an error", name, got, err)
		}
	}
	if _, err := protoio.AppendStructure(nil, tenon.List{tenon.Nil{}, tenon.Str("\xff")}, protoio.Options{}); err == nil || !strings.Contains(err.Error(), "[1]") {
		t.Errorf("a string that is not UTF-8: %v", err)
	}
}

func appendLength(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func TestPiecesAddUp(t *testing.T) {
	// A list in two messages of one field is one list; of two fields the last counts.
	got, err := protoio.DecodeStructure([]byte("\x60\x02\x9a\x03\x04\x0a\x02\x60\x04\x9a\x03\x04\x0a\x02\x60\x06"), protoio.Options{})
	if err != nil || cmp.Diff(tenon.List{tenon.Int(2), tenon.Int(3)}, got) != "" {
		t.Errorf("got %v, %v", got, err)
	}
}

func FuzzDecodeStructure(f *testing.F) {
	for _, seed := range []string{"CgA=", "mgMUCgJgAgoJWQAAAAAAAABACgNqAXg=", "qgMXCgwKAWESB6IDBAoCYAQKBwoBYhICYAI=", "mgIgEgQSAggCGAEiCggBEgAqBAAAAAAqCggBEgAqBAAAgD8=",
		"kgJMCAMSNKIDMQoh+gEeEgsI////////////ARILCP///////////wESAggCCgOAAgEKAmACCgOAAgMaEFJhZ2dlZFRlbnNvclNwZWMgAg==", "wgMaCAkSBBICCAIiEAEAAAAAAAAAAgAAAAAAAAA=",
		"sgMhCgRQYWlyEgcKAXgSAmACEhAKAXkSC4oCCBIEEgIIAhgD",
		"kgL8AQgNEtsBogPXAQozogMwCglqB19maWVsZHMKI6oDIAoMCgFhEgeKAgQSABgDChAKAWISC4oCCBIEEgIIAhgDCp8BogObAQoPag1fcmFnZ2VkX3NoYXBlCocBkgKDAQgNEmGiA14KG6IDGAoRag9fcm93X3BhcnRpdGlvbnMKA6IDAAoeogMbCg5qDF9pbm5lcl9zaGFwZQoJigIGEgISABgJCh+iAxwKFWoTX3N0YXRpY19pbm5lcl9zaGFwZQoD+gEAGhp0Zi5EeW5hbWljUmFnZ2VkU2hhcGUuU3BlYyABGhh0Zi5TdHJ1Y3R1cmVkVGVuc29yLlNwZWMgAw=="} {
		f.Add(unbase64(f, seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := protoio.DecodeStructure(b, protoio.Options{})
		if err != nil {
			if !errors.As(err, new(*tenon.Error)) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		out, err := protoio.AppendStructure(nil, e, protoio.Options{})
		if err != nil {
			return // such as names that are not UTF-8, which are read but not written
		}
		back, err := protoio.DecodeStructure(out, protoio.Options{})
		if err != nil || !tenon.EqualEncoding(e, back) {
			t.Fatalf("%s\ncomes back as\n%s\n%v", tenon.EncodingText(e), tenon.EncodingText(back), err)
		}
	})
}
