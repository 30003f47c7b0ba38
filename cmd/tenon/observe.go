package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/tenonml/tenon/model/serve"
)

// adminHandler serves metrics of the functions and of the process, and profiles.
func adminHandler(s *serve.Server) http.Handler {
	own := prometheus.NewRegistry()
	own.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	ofFunctions := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		var b bytes.Buffer
		s.WriteMetrics(&b)
		p := expfmt.NewTextParser(model.UTF8Validation)
		families, err := p.TextToMetricFamilies(&b)
		var out []*dto.MetricFamily
		for _, f := range families {
			out = append(out, f)
		}
		return out, err
	})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(prometheus.Gatherers{own, ofFunctions}, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// traced returns a wrapper that records a span for each request, to a file, and to a collector. If the
// header traceparent names a span of the client, it is the parent.
func traced(file, url string) (around func(http.Handler) http.Handler, end func() error, err error) {
	var options []sdk.TracerProviderOption
	if url != "" {
		e, err := toCollector(url)
		if err != nil {
			return nil, nil, err
		}
		options = append(options, sdk.WithBatcher(e))
	}
	if file != "" {
		e, err := toFile(file)
		if err != nil {
			return nil, nil, err
		}
		options = append(options, sdk.WithBatcher(e))
	}
	provider := sdk.NewTracerProvider(append(options, sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "tenon"))))...)
	tracer := provider.Tracer("github.com/tenonml/tenon/cmd/tenon")
	around = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			ctx, span := tracer.Start(ctx, spanName(r), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
				attribute.String("http.request.method", r.Method), attribute.String("url.path", r.URL.Path), attribute.String("client.address", r.RemoteAddr)))
			defer span.End()
			e := &recorder{ResponseWriter: w, status: http.StatusOK}
			h.ServeHTTP(e, r.WithContext(ctx))
			span.SetAttributes(attribute.Int("http.response.status_code", e.status), attribute.String("tenon.request_id", e.Header().Get("X-Request-Id")))
			if e.status >= 500 {
				span.SetStatus(codes.Error, http.StatusText(e.status))
			}
		})
	}
	return around, func() error {
		const most = 5 * time.Second // for a collector that does not respond
		ctx, cancel := context.WithTimeout(context.Background(), most)
		defer cancel()
		return provider.Shutdown(ctx)
	}, nil
}

// spanName is the method, and the path without names of functions and versions.
func spanName(r *http.Request) string {
	parts := strings.Split(r.URL.Path, "/")
	for i := 1; i < len(parts); i++ {
		switch name, verb, _ := strings.Cut(parts[i], ":"); {
		case parts[i-1] == "models" || parts[i-1] == "call" || parts[i-1] == "versions" || parts[i-1] == "labels":
			if parts[i] = "{name}"; name != "" && verb != "" {
				parts[i] += ":" + verb
			}
		}
	}
	const most = 100 // bytes of an unknown path
	path := strings.Join(parts, "/")
	return r.Method + " " + path[:min(len(path), most)]
}

// recorder records the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the status.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the writer for an http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush sends what has been written.
func (r *recorder) Flush() { http.NewResponseController(r.ResponseWriter).Flush() }
