package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Spans are written in the JSON form of OpenTelemetry's protocol (OTLP), with one line per batch in a file and one
// request per batch to a collector. OpenTelemetry's own Go exporters would bring in gRPC and every message of the
// protocol.

// An exporter encodes spans, and passes them to send.
type exporter struct {
	send func(ctx context.Context, batch []byte) error
	end  func() error
}

// ExportSpans sends spans as one batch.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	b, err := json.Marshal(batchOf(spans))
	if err != nil {
		return err
	}
	return e.send(ctx, b)
}

// Shutdown ends the exporter.
func (e *exporter) Shutdown(context.Context) error { return e.end() }

// toFile appends batches to a file.
func toFile(name string) (*exporter, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &exporter{end: f.Close, send: func(_ context.Context, batch []byte) error {
		_, err := f.Write(append(batch, '\n'))
		return err
	}}, nil
}

// toCollector posts batches to a URL. If it has no path, the path is /v1/traces.
func toCollector(to string) (*exporter, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.Join(err, fmt.Errorf("--otlp takes the URL of a collector, such as http://localhost:4318, not %q", to))
	}
	if u.Path == "" {
		u.Path = "/v1/traces"
	}
	header, err := collectorHeader()
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: 10 * time.Second} // the protocol's default
	return &exporter{end: func() error { client.CloseIdleConnections(); return nil }, send: func(ctx context.Context, batch []byte) error {
		const tries = 5
		for i := range tries {
			wait, err := post(ctx, client, u.String(), header, batch)
			if wait < 0 || err == nil || i == tries-1 {
				return err
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(max(wait, time.Second<<i)):
			}
		}
		return nil
	}}, nil
}

// collectorHeader returns the header fields given by OTEL_EXPORTER_OTLP_TRACES_HEADERS or OTEL_EXPORTER_OTLP_HEADERS,
// such as an access key.
func collectorHeader() (http.Header, error) {
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"tenon"}}
	text := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS")
	if text == "" {
		text = os.Getenv("OTEL_EXPORTER_OTLP_HEADERS")
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS has %q, which is not key=value", key)
		}
		h.Set(strings.TrimSpace(key), value)
	}
	return h, nil
}

// post sends a batch once. If a retry makes sense, wait is the delay that the collector asks for; otherwise it is
// negative.
func post(ctx context.Context, client *http.Client, to string, header http.Header, batch []byte) (wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(batch))
	if err != nil {
		return -1, err
	}
	r.Header = header
	res, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	const most = 1 << 16 // bytes of an answer
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, most)); err != nil {
		return -1, err
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		s, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return min(time.Duration(max(s, 0))*time.Second, time.Minute), fmt.Errorf("the collector %s answered %s", to, res.Status)
	}
	if res.StatusCode/100 != 2 {
		return -1, fmt.Errorf("the collector %s answered %s", to, res.Status)
	}
	return 0, nil
}

// The messages of OTLP, as far as they are needed. In its JSON form, 64-bit numbers are strings, and ids are
// hexadecimal.
type (
	otlpBatch struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []otlpScope `json:"scopeSpans"`
	}
	otlpScope struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		Parent     string          `json:"parentSpanId,omitempty"`
		State      string          `json:"traceState,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      int64           `json:"startTimeUnixNano,string"`
		End        int64           `json:"endTimeUnixNano,string"`
		Attributes []otlpAttribute `json:"attributes,omitempty"`
		Status     struct {
			Code    int    `json:"code,omitempty"`
			Message string `json:"message,omitempty"`
		} `json:"status"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// batchOf encodes spans, which all have the same resource and scope.
func batchOf(spans []sdk.ReadOnlySpan) otlpBatch {
	var in otlpResource
	var at otlpScope
	for _, s := range spans {
		in.Resource.Attributes = otlpAttributes(s.Resource().Attributes())
		at.Scope.Name = s.InstrumentationScope().Name
		x := otlpSpan{
			TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(), State: s.SpanContext().TraceState().String(),
			Name: s.Name(), Kind: int(s.SpanKind()), Start: s.StartTime().UnixNano(), End: s.EndTime().UnixNano(), Attributes: otlpAttributes(s.Attributes()),
		}
		if p := s.Parent(); p.SpanID().IsValid() {
			x.Parent = p.SpanID().String()
		}
		x.Status.Code = map[codes.Code]int{codes.Ok: 1, codes.Error: 2}[s.Status().Code]
		x.Status.Message = s.Status().Description
		at.Spans = append(at.Spans, x)
	}
	in.ScopeSpans = []otlpScope{at}
	return otlpBatch{ResourceSpans: []otlpResource{in}}
}

func otlpAttributes(list []attribute.KeyValue) []otlpAttribute {
	out := make([]otlpAttribute, len(list))
	for i, kv := range list {
		out[i].Key = string(kv.Key)
		switch v := kv.Value; v.Type() {
		case attribute.INT64:
			out[i].Value = map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
		case attribute.BOOL:
			out[i].Value = map[string]any{"boolValue": v.AsBool()}
		case attribute.FLOAT64:
			out[i].Value = map[string]any{"doubleValue": v.AsFloat64()}
		default:
			out[i].Value = map[string]any{"stringValue": v.String()}
		}
	}
	return out
}
