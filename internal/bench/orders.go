package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The records of jsonl_ingest: users with their orders, as JSON lines.

var (
	orderNames = []string{"ada", "bob", "chen", "dina", "emil", "farah", "gus", "hana",
		"ivan", "june", "kofi", "lena", "marguerite", "nikolaus", "olu", "priyanka"}
	orderTags = []string{"new", "vip", "returning", "beta", "eu-west", "us-east", "apac", "trial",
		"gold", "silver", "bronze", "gift", "b2b", "café", `say \"hi\"`, `J\u00f6rg`}
	orderCats = []string{"books", "music", "garden", "toys", "sports", "grocery", "beauty", "office",
		"shoes", "jewelry", "outdoor", "pets", "baby", "tools", "auto", "health",
		"kitchen", "games", "video", "software", "fabric", "luggage", "watches", "art"}
	orderNotes = []string{"leave at the door", "call before delivery, please", "fragile: handle with care",
		`gift wrap\nand a card`, `invoice to \"ACME\" Ltd.`, "second floor, left", "no plastic", "weekend only — after ten"}
)

// orderHashes are the SHA-256 of the files of each size.
var orderHashes = map[string]string{
	"tiny":  "f133598c16616d38fd8bdc636e6d51552cc0af7500fea6063ffedf0ddf1c7840",
	"small": "a3116b09cffc7cf571f67bd5e41d08923d29dc53e35a9d3ca4ec3c9afa41a23c",
	"full":  "aeec945fe18ea9a5ddf960e53df635db4c8e66c28bac456b433cfea9ad4f2d69",
}

// appendOrders appends n records.
func appendOrders(b []byte, n int) []byte {
	s := inputs.NewStream(1, 0)
	for i := range n {
		b = appendUser(b, i, s)
	}
	return b
}

func appendUser(b []byte, i int, s *inputs.Stream) []byte {
	user := orderNames[s.Below(16)] + "_" + strconv.Itoa(s.Below(100000))
	active := s.Below(2) == 1
	b = fmt.Appendf(b, `{"id":%d,"user":"%s","active":%t,"score":0.%016d`, i, user, active, s.Next()%1e16)
	if s.Below(10) < 7 {
		b = fmt.Appendf(b, `,"age":%d`, 18+s.Below(80))
	}
	switch e := s.Below(10); {
	case e < 5:
		b = fmt.Appendf(b, `,"email":"%s@example.com"`, user)
	case e == 5:
		b = append(b, `,"email":null`...)
	}
	lat, lon := s.Below(1800001)-900000, s.Below(3600001)-1800000
	b = append(b, `,"geo":{"lat":`...)
	b = appendDegrees(b, lat)
	b = append(b, `,"lon":`...)
	b = appendDegrees(b, lon)
	b = append(b, `},"tags":[`...)
	for k := range s.Below(4) {
		b = fmt.Appendf(comma(b, k), `"%s"`, orderTags[s.Below(16)])
	}
	b = append(b, `],"orders":[`...)
	for k := range s.Below(4) {
		b = appendOrder(comma(b, k), s)
	}
	return append(b, "]}\n"...)
}

func appendOrder(b []byte, s *inputs.Stream) []byte {
	sku, cat, qty, price := s.Below(1<<24), orderCats[s.Below(24)], 1+s.Below(9), s.Below(100000)
	b = fmt.Appendf(b, `{"sku":"SKU-%06X","cat":"%s","qty":%d,"price":%d.%02d`, sku, cat, qty, price/100, price%100)
	if s.Below(8) == 0 {
		b = fmt.Appendf(b, `,"note":"%s"`, orderNotes[s.Below(8)])
	}
	b = append(b, `,"items":[`...)
	for k := range s.Below(5) {
		n := s.Below(1000000)
		b = fmt.Appendf(comma(b, k), `{"k":%d,"w":0.%06d}`, n, s.Below(1000000))
	}
	return append(b, "]}"...)
}

func comma(b []byte, k int) []byte {
	if k > 0 {
		b = append(b, ',')
	}
	return b
}

func appendDegrees(b []byte, x int) []byte {
	if x < 0 {
		b, x = append(b, '-'), -x
	}
	return fmt.Appendf(b, "%d.%04d", x/10000, x%10000)
}

// ordersFile returns the name of the file of the run's size, which it makes if need
// be, where the other benchmarks keep theirs, and the number of its bytes.
func (r *runner) ordersFile() (name string, size float64) {
	if r.err != nil {
		return "", 0
	}
	dir := os.Getenv("TENON_BENCH_DATA")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "tenon-bench")
	}
	name = filepath.Join(dir, "orders-"+r.size+".jsonl")
	if st, err := os.Stat(name); err == nil {
		return name, float64(st.Size())
	}
	text := appendOrders(nil, r.pick(280000, 2600, 260))
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != orderHashes[r.size] {
		r.err = fmt.Errorf("the records of size %s are not those of the definition", r.size)
		return "", 0
	}
	if r.err = os.MkdirAll(dir, 0o777); r.err == nil {
		r.err = writeWhole(name, text)
	}
	return name, float64(len(text))
}

// writeWhole writes a file that nobody sees before it is complete.
func writeWhole(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// ordersSpec is the type of the records.
func ordersSpec() *structured.Spec {
	rows := shape.Of(shape.Unknown)
	leaf := func(d dtype.DType) tenon.Spec { return tensor.NewSpec(d, rows) }
	optional := func(s tenon.Spec) tenon.Spec { return tenon.Must(masked.NewSpec(s, -1)) }
	lists := func(d dtype.DType, dims int) tenon.Spec {
		return tenon.Must(ragged.NewSpec(d, shape.OfRank(dims), dims-1, dtype.Int64))
	}
	of := func(dims int, fields ...tenon.Field) *structured.Spec {
		return tenon.Must(structured.NewSpec(shape.OfRank(dims), fields))
	}
	return of(1,
		tenon.Field{Name: "id", Spec: leaf(dtype.Int64)}, tenon.Field{Name: "user", Spec: leaf(dtype.String)},
		tenon.Field{Name: "active", Spec: leaf(dtype.Bool)}, tenon.Field{Name: "score", Spec: leaf(dtype.Float64)},
		tenon.Field{Name: "age", Spec: optional(leaf(dtype.Int64))}, tenon.Field{Name: "email", Spec: optional(leaf(dtype.String))},
		tenon.Field{Name: "geo", Spec: of(1, tenon.Field{Name: "lat", Spec: leaf(dtype.Float64)}, tenon.Field{Name: "lon", Spec: leaf(dtype.Float64)})},
		tenon.Field{Name: "tags", Spec: lists(dtype.String, 2)},
		tenon.Field{Name: "orders", Spec: of(2,
			tenon.Field{Name: "sku", Spec: lists(dtype.String, 2)}, tenon.Field{Name: "cat", Spec: lists(dtype.String, 2)},
			tenon.Field{Name: "qty", Spec: lists(dtype.Int64, 2)}, tenon.Field{Name: "price", Spec: lists(dtype.Float64, 2)},
			tenon.Field{Name: "note", Spec: optional(lists(dtype.String, 2))},
			tenon.Field{Name: "items", Spec: of(3, tenon.Field{Name: "k", Spec: lists(dtype.Int64, 3)}, tenon.Field{Name: "w", Spec: lists(dtype.Float64, 3)})})})
}

// readOrders reads the file with its types given.
func readOrders(name string) (*structured.Tensor, error) {
	return jsonl.ReadFile(name, jsonl.Options{Schema: ordersSpec()})
}
