package serve

import (
	"context"
	"embed"
	"io"
	"net/http"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Clients over gRPC may ask for the definitions of the services: those in the folder proto.

//go:embed proto/*.proto
var protoFiles embed.FS

// definitions compiles the definitions when they are first asked for.
var definitions = sync.OnceValues(func() (*protoregistry.Files, error) {
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: func(name string) (io.ReadCloser, error) { return protoFiles.Open("proto/" + name) },
	})}
	all, err := c.Compile(context.Background(), "inference.proto", "tensorflow_serving.proto", "health.proto")
	if err != nil {
		return nil, err
	}
	files := new(protoregistry.Files)
	for _, f := range all {
		if err := register(files, f); err != nil {
			return nil, err
		}
	}
	return files, nil
})

// register adds a file, and before it those that it needs.
func register(files *protoregistry.Files, f protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(f.Path()); err == nil {
		return nil
	}
	imports := f.Imports()
	for i := range imports.Len() {
		if err := register(files, imports.Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return files.RegisterFile(f)
}

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

// reflection adds the calls that tell definitions.
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
