package serve

import (
	_ "embed"
	"net/http"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// gRPC clients may request the definitions of the services, which are in the folder proto.

// The definitions as protoc compiles them, with what they import: a FileDescriptorSet.
// TestDefinitionsAreCurrent writes the file.
//
//go:embed proto/definitions.binpb
var compiled []byte

// definitions are decoded when they are first requested.
var definitions = sync.OnceValues(func() (*protoregistry.Files, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(compiled, &set); err != nil {
		return nil, err
	}
	return protodesc.NewFiles(&set)
})

// resolver finds definitions.
type resolver struct{}

var _ protodesc.Resolver = resolver{}

// FindFileByPath finds a file.
func (resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	files, err := definitions()
	if err != nil {
		return nil, err
	}
	return files.FindFileByPath(path)
}

// FindDescriptorByName finds a service, a call or a message.
func (resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	files, err := definitions()
	if err != nil {
		return nil, err
	}
	return files.FindDescriptorByName(name)
}

// reflection adds the calls that return definitions.
func reflection(mux *http.ServeMux, options []connect.HandlerOption) {
	var names []string
	for _, s := range services {
		names = append(names, strings.Trim(s, "/"))
	}
	r := grpcreflect.NewReflector(grpcreflect.NamerFunc(func() []string { return names }), grpcreflect.WithDescriptorResolver(resolver{}))
	for _, handler := range []func(*grpcreflect.Reflector, ...connect.HandlerOption) (string, http.Handler){grpcreflect.NewHandlerV1, grpcreflect.NewHandlerV1Alpha} {
		path, h := handler(r, options...)
		mux.Handle(path, endless(h))
	}
}
