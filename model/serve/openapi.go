package serve

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"

	"github.com/tenonml/tenon/dtype"
)

// openAPI describes the calls in natural JSON (OpenAPI 3.1).
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	type object = map[string]any
	paths := object{}
	for _, f := range s.newest() {
		request, ok := schemaOf(f.in)
		if !ok {
			continue
		}
		response, ok := schemaOf(f.out)
		if !ok {
			continue
		}
		media := "application/json"
		if f.Stream != nil {
			media = "application/x-ndjson"
		}
		wrong := object{"description": "an error", "content": object{"application/json": object{"schema": object{
			"type": "object", "properties": object{"error": object{"type": "string"}}, "required": []string{"error"}}}}}
		paths["/call/"+f.Name] = object{"post": object{
			"operationId": f.Name,
			"summary":     f.Name,
			"description": f.Doc,
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": request}}},
			"responses": object{
				"200": object{"description": "the results", "content": object{media: object{"schema": response}}},
				"4XX": wrong, "5XX": wrong,
			},
		}}
	}
	b, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": s.opts.Name, "version": "1"},
		"paths":   paths,
	})
	if err != nil {
		return err
	}
	return answer(w, b)
}

// schemaOf describes arguments or results. It returns false if a type is unknown.
func schemaOf(list []*layout) (map[string]any, bool) {
	properties := map[string]any{}
	required := []string{}
	for _, l := range list {
		if l == nil {
			return nil, false
		}
		properties[l.name] = l.root.schema()
		required = append(required, l.name)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}, true
}

// schema describes the value at a node.
func (n *node) schema() map[string]any {
	type object = map[string]any
	switch n.kind {
	case axisNode:
		out := object{"type": "array", "items": n.child.schema()}
		if n.size >= 0 && n.column == nil {
			out["minItems"], out["maxItems"] = n.size, n.size
		}
		return out
	case optionalNode:
		return object{"anyOf": []any{n.child.schema(), object{"type": "null"}}}
	case recordNode:
		switch n.form {
		case variantForm:
			var variants []any
			for i, f := range n.fields[1:] {
				name := n.names[i+1]
				variants = append(variants, object{"type": "object", "properties": object{name: f.schema()}, "required": []string{name}, "additionalProperties": false})
			}
			return object{"oneOf": variants}
		case mapForm:
			return object{"type": "object", "additionalProperties": n.fields[0].within().fields[1].schema()}
		}
		properties, required := object{}, []string{}
		for i, f := range n.fields {
			properties[n.names[i]] = f.schema()
			if f.kind != optionalNode {
				required = append(required, n.names[i])
			}
		}
		return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	dt := n.column.dt
	switch {
	case n.means != nil:
		return object{"type": "string", "description": n.means.String(), "examples": []any{textMadeUp(*n.means, rand.New(rand.NewPCG(0, 0)))}}
	case dt == dtype.Bool:
		return object{"type": "boolean"}
	case dt == dtype.String:
		return object{"anyOf": []any{object{"type": "string"}, object{"type": "object", "properties": object{"b64": object{"type": "string", "contentEncoding": "base64"}},
			"required": []string{"b64"}, "additionalProperties": false}}}
	case dt.IsFloat():
		return object{"anyOf": []any{object{"type": "number"}, object{"enum": []string{"NaN", "Infinity", "-Infinity"}}}}
	}
	out := object{"type": "integer"}
	bits := 8 * dt.Size()
	if dt.IsUnsigned() {
		out["minimum"], out["maximum"] = 0, uint64(1)<<(bits-1)*2-1
	} else {
		out["minimum"], out["maximum"] = -1<<(bits-1), int64(uint64(1)<<(bits-1)-1)
	}
	return out
}
