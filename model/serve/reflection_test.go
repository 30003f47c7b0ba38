package serve

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Update says that tests keep what they make: the definitions, and pictures of the page under docs.
var Update = flag.Bool("update", false, "write the compiled definitions, and pictures of the page")

// What clients are told of the services is what the folder proto says.
func TestDefinitionsAreCurrent(t *testing.T) {
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"proto"}})}
	files, err := c.Compile(t.Context(), "inference.proto", "tensorflow_serving.proto", "health.proto")
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	for _, f := range files {
		add(f)
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(&set)
	if err != nil {
		t.Fatal(err)
	}
	if *Update {
		if err := os.WriteFile("proto/definitions.binpb", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(compiled, want) {
		t.Error("proto/definitions.binpb is not what the .proto files say: go test ./model/serve -run DefinitionsAreCurrent -update")
	}
}
