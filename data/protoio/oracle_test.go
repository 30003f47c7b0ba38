package protoio_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// exampleMessage describes tf.Example to a general reader of protocol buffers, with
// the rules of proto2, which leave it to the reader whether a key is valid UTF-8.
func exampleMessage(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	type kind = descriptorpb.FieldDescriptorProto_Type
	field := func(name string, n int32, label descriptorpb.FieldDescriptorProto_Label, k kind, of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &n, Label: &label, Type: &k}
		if of != "" {
			f.TypeName = proto.String(".t." + of)
		}
		return f
	}
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
	}
	one, many := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	text, inner := descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	entry := message("FeatureEntry", field("key", 1, one, text, ""), field("value", 2, one, inner, "Feature"))
	entry.Options = &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}
	features := message("Features", field("feature", 1, many, inner, "Features.FeatureEntry"))
	features.NestedType = []*descriptorpb.DescriptorProto{entry}
	feature := message("Feature", field("bytes", 1, one, inner, "Bytes"), field("float", 2, one, inner, "Floats"), field("int64", 3, one, inner, "Ints"))
	for _, f := range feature.Field {
		f.OneofIndex = proto.Int32(0)
	}
	feature.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("kind")}}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("example.proto"), Package: proto.String("t"), Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("Example", field("features", 1, one, inner, "Features")), features, feature,
			message("Bytes", field("value", 1, many, descriptorpb.FieldDescriptorProto_TYPE_BYTES, "")),
			message("Floats", field("value", 1, many, descriptorpb.FieldDescriptorProto_TYPE_FLOAT, "")),
			message("Ints", field("value", 1, many, descriptorpb.FieldDescriptorProto_TYPE_INT64, "")),
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().ByName("Example")
}

// decoded is what protobuf-go finds in a feature: the name of its list, empty if it
// has none, and the elements as text.
func decoded(m protoreflect.Message, key string) (list string, elements []string) {
	get := func(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
		return m.Get(m.Descriptor().Fields().ByName(name))
	}
	entries := get(get(m, "features").Message(), "feature").Map()
	v := entries.Get(protoreflect.ValueOfString(key).MapKey())
	if !v.IsValid() {
		return "", nil
	}
	f := v.Message()
	kind := f.WhichOneof(f.Descriptor().Oneofs().ByName("kind"))
	if kind == nil {
		return "", nil
	}
	xs := get(f.Get(kind).Message(), "value").List()
	for i := range xs.Len() {
		switch x := xs.Get(i).Interface().(type) {
		case float32:
			elements = append(elements, bitsOf(x))
		case []byte:
			elements = append(elements, fmt.Sprintf("%x", x))
		default:
			elements = append(elements, fmt.Sprint(x))
		}
	}
	return string(kind.Name()), elements
}

// bitsOf returns the bits of a number as text, of a signaling NaN those of the quiet one:
// protobuf-go keeps a float32 as a float64, and the conversion makes it quiet.
func bitsOf(x float32) string {
	b := math.Float32bits(x)
	if x != x {
		b |= 1 << 22
	}
	return fmt.Sprintf("%x", b)
}

// rowOf returns the elements of a row of a ragged vector as decoded does.
func rowOf(t testing.TB, v tensor.Tensor, row int) []string {
	t.Helper()
	r := v.(*ragged.Tensor)
	splits := tensor.Data[int64](r.RowSplits())
	var out []string
	for i := splits[row]; i < splits[row+1]; i++ {
		switch d := r.FlatValues().(type) {
		case *tensor.Strings:
			out = append(out, fmt.Sprintf("%x", d.At(int(i))))
		default:
			if d.DType() == dtype.Float32 {
				out = append(out, bitsOf(tensor.Data[float32](d)[i]))
			} else {
				out = append(out, fmt.Sprint(tensor.Data[int64](d)[i]))
			}
		}
	}
	return out
}

// unmarshal is proto.Unmarshal; its panic over the entry of a map whose key is a field of
// another wire type is an error.
func unmarshal(b []byte, m proto.Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("protobuf-go: %v", p)
		}
	}()
	return proto.Unmarshal(b, m)
}

// FuzzAgainstProtobuf reads messages with this package and with protobuf-go, the same
// ones several times in a batch, so that what is learned of the first is put to use.
func FuzzAgainstProtobuf(f *testing.F) {
	type want struct {
		list string
		d    dtype.DType
	}
	wants := map[string]want{"v": {"int64", dtype.Int64}, "weights": {"float", dtype.Float32}, "s": {"bytes", dtype.String}}
	fs := protoio.Features{}
	for key, w := range wants {
		fs[key] = protoio.Ragged{DType: w.d}
	}
	full := entry("v", ints(1, 300, -1, 1<<40, 16384, 16383, 127, 128, 0, 5, 6, 7))
	weights := entry("weights", message(2, message(1, "\x00\x00\x80\x3f\x00\x00\x00\x40")))
	texts := entry("s", message(1, message(1, "text", 1, "", 1, "a longer text than sixteen bytes")))
	f.Add(example(full, texts, weights), example(full, weights, texts))
	f.Add(example(full, texts, weights, entry("v", loose(1, 2))), example(entry("v", append(ints(7), one32...)), texts))
	f.Add(example(message(1, "v", 2, ints(4), 2, ints(5))), example(message(2, ints(4), 1, "v")))
	f.Add(example(full, entry("other", one32), entry("v", nil)), append(example(full), example(weights, full)...))
	f.Add(example(entry("v", ints()), entry("s", message(1, "")), entry("weights", message(2, ""))), []byte("\x0a\x05\x0b\x08\x01\x0c\x18"))
	f.Add(example(entry("v", append(ints(1), "\x23\x08\x01\x24"...))), example(entry("v", message(3, message(1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x00")))))
	desc := exampleMessage(f)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		batch := [][]byte{a, b, a, a, b, b}
		var oracle []protoreflect.Message
		for _, m := range [][]byte{a, b} {
			d := dynamicpb.NewMessage(desc)
			if err := unmarshal(m, d); err != nil {
				// Of what is not asked for only the length is looked at, so that either
				// answer is right, but nothing else than an answer.
				if _, err := protoio.ParseExamples(batch, fs, protoio.ParseOptions{}); err != nil && !errors.As(err, new(*tenon.Error)) {
					t.Fatal(err)
				}
				return
			}
			oracle = append(oracle, d)
		}
		got, err := protoio.ParseExamples(batch, fs, protoio.ParseOptions{})
		for key, w := range wants {
			for i, m := range []protoreflect.Message{oracle[0], oracle[1], oracle[0], oracle[0], oracle[1], oracle[1]} {
				list, elements := decoded(m, key)
				if list != "" && list != w.list {
					if !errors.Is(err, tenon.ErrInvalid) {
						t.Fatalf("%s of message %d is a list of %s, and the error %v", key, i, list, err)
					}
					return
				}
				if err == nil && fmt.Sprint(rowOf(t, got[key], i)) != fmt.Sprint(elements) {
					t.Fatalf("%s of message %d: got %v, want %v", key, i, rowOf(t, got[key], i), elements)
				}
			}
		}
		if err != nil {
			t.Fatalf("messages that protobuf-go reads are refused: %v", err)
		}
	})
}
