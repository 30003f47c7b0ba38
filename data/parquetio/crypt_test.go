package parquetio_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/structured"
)

// secretKeys are keys of all columns, of which one in lists and one record have their own.
func secretKeys() *parquetio.Keys {
	return &parquetio.Keys{
		Footer:  []byte("the key of the footer, 32 bytes."),
		Columns: map[string][]byte{"jets.pt": []byte("0123456789abcdef"), "geo": []byte("24 bytes for this record")},
		Name:    func(column string) []byte { return []byte("key of " + column) },
	}
}

// secretRecords are records whose columns have dictionaries, lists and what is missing.
func secretRecords(t *testing.T) *structured.Tensor {
	t.Helper()
	var list []any
	for i := range 400 {
		jets := []any{}
		for k := range i % 4 {
			jets = append(jets, map[string]any{"pt": float64(i) + 0.5, "cat": fmt.Sprint("cat", k)})
		}
		geo := any(map[string]any{"lat": float64(i), "name": "a place"})
		if i%3 == 0 {
			geo = nil
		}
		list = append(list, map[string]any{"id": int64(i), "jets": jets, "geo": geo})
	}
	return must(structured.FromNested(list, structured.NestedOptions{Missing: structured.MissingMasked})).(*structured.Tensor)
}

// What is encrypted comes back for those who have the keys, whatever the codec and the pages, and nothing of it is to be seen.
func TestEncryptedFilesComeBack(t *testing.T) {
	v := secretRecords(t)
	want := fmt.Sprint(must(v.ToNested()))
	for _, codec := range []parquetio.Compression{parquetio.Zstd, parquetio.Uncompressed} {
		b := encoded(t, v, parquetio.WriteOptions{GroupRows: 150, PageBytes: 200, Compression: codec, Keys: secretKeys()})
		for _, text := range []string{"cat1", "a place", "jets", "tenon.schema"} {
			if bytes.Contains(b, []byte(text)) && text != "jets" {
				t.Errorf("%q is in the file", text)
			}
		}
		got := must(parquetio.Decode(b, parquetio.ReadOptions{Keys: secretKeys()}))
		if !tenon.Equal(got.Spec(), v.Spec()) || fmt.Sprint(must(got.(*structured.Tensor).ToNested())) != want {
			t.Errorf("codec %d: it is read as %v", codec, got)
		}
		some := must(parquetio.Decode(b, parquetio.ReadOptions{Keys: secretKeys(), Columns: []string{"id", "jets.pt"}, Where: []parquetio.Range{{Column: "id", Min: 390}}}))
		if n := must(rows(some)); n < 10 || n > 100 {
			t.Errorf("%d rows are read of the last ten", n)
		}
		again := must(parquetio.Decode(encoded(t, v, parquetio.WriteOptions{Keys: secretKeys()}), parquetio.ReadOptions{Keys: secretKeys()}))
		if fmt.Sprint(again) != fmt.Sprint(got) {
			t.Error("the same records, encrypted twice, are read as others")
		}
	}
}

// Whoever has some of the keys reads those columns; the names in the file find keys.
func TestSomeKeys(t *testing.T) {
	v := secretRecords(t)
	b := encoded(t, v, parquetio.WriteOptions{Keys: secretKeys()})
	footer := &parquetio.Keys{Footer: secretKeys().Footer}
	got := must(parquetio.Decode(b, parquetio.ReadOptions{Keys: footer, Columns: []string{"id", "jets.cat"}})).(*structured.Tensor)
	if fmt.Sprint(got.Path("id")) != fmt.Sprint(v.Path("id")) || fmt.Sprint(got.Path("jets.cat")) != fmt.Sprint(v.Path("jets.cat")) {
		t.Errorf("%v", got)
	}
	_, err := parquetio.Decode(b, parquetio.ReadOptions{Keys: footer})
	if err == nil || !strings.Contains(err.Error(), "ReadOptions.Keys, geo.lat") && !strings.Contains(err.Error(), "ReadOptions.Keys, jets.pt") {
		t.Error(err)
	}
	var asked []string
	find := &parquetio.Keys{Find: func(name []byte) ([]byte, error) {
		asked = append(asked, string(name))
		switch column := strings.TrimPrefix(string(name), "key of "); column {
		case "":
			return secretKeys().Footer, nil
		default:
			return secretKeys().Columns[column], nil
		}
	}}
	all := must(parquetio.Decode(b, parquetio.ReadOptions{Keys: find})).(*structured.Tensor)
	if fmt.Sprint(must(all.ToNested())) != fmt.Sprint(must(v.ToNested())) {
		t.Errorf("%v", all)
	}
	if s := strings.Join(asked, ","); !strings.Contains(s, "key of jets.pt") || !strings.Contains(s, "key of geo") {
		t.Error(s)
	}
	none := errors.New("the store is closed")
	if _, err := parquetio.Decode(b, parquetio.ReadOptions{Keys: &parquetio.Keys{Find: func([]byte) ([]byte, error) { return nil, none }}}); !errors.Is(err, none) {
		t.Error(err)
	}
}

// Other keys, another prefix, and files that are encrypted or not against what is expected are errors.
func TestKeysThatAreWrong(t *testing.T) {
	v := secretRecords(t)
	plain, sealed := encoded(t, v, parquetio.WriteOptions{}), encoded(t, v, parquetio.WriteOptions{Keys: secretKeys()})
	prefixed := secretKeys()
	prefixed.Prefix = []byte("events/1")
	named := encoded(t, v, parquetio.WriteOptions{Keys: prefixed})
	other := secretKeys()
	other.Footer = []byte("another one,   which has 32 too.")
	column := secretKeys()
	column.Columns["jets.pt"] = []byte("fedcba9876543210")
	second := secretKeys()
	second.Prefix = []byte("events/2")
	for name, c := range map[string]struct {
		b    []byte
		keys *parquetio.Keys
		want string
	}{
		"none":           {sealed, nil, "is encrypted"},
		"the file plain": {plain, secretKeys(), "is not encrypted"},
		"of the footer":  {sealed, other, "another key"},
		"of a column":    {sealed, column, "another key"},
		"no prefix":      {named, secretKeys(), "Keys.Prefix"},
		"another prefix": {named, second, "another key"},
		"of 5 bytes":     {sealed, &parquetio.Keys{Footer: []byte("short")}, "want 16, 24 or 32"},
	} {
		if _, err := parquetio.Decode(c.b, parquetio.ReadOptions{Keys: c.keys}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(parquetio.Decode(named, parquetio.ReadOptions{Keys: prefixed}))
	for name, keys := range map[string]*parquetio.Keys{
		"Keys.Footer":         {},
		"there is no column":  {Footer: secretKeys().Footer, Columns: map[string][]byte{"jet": secretKeys().Footer}},
		"Keys.Columns, geo: ": {Footer: secretKeys().Footer, Columns: map[string][]byte{"geo": []byte("short")}},
	} {
		if err := parquetio.Encode(&bytes.Buffer{}, v, parquetio.WriteOptions{Keys: keys}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any byte of an encrypted file that changes is an error; only the mark at the beginning is not looked at.
func TestChangedBytesOfEncryptedFiles(t *testing.T) {
	v := must(structured.FromNested([]any{map[string]any{"a": []any{int64(1), int64(2)}, "s": "x"}, map[string]any{"a": []any{}, "s": "x"}}, structured.NestedOptions{}))
	keys := &parquetio.Keys{Footer: []byte("0123456789abcdef"), Columns: map[string][]byte{"s": []byte("fedcba9876543210")}}
	good := encoded(t, v, parquetio.WriteOptions{Plain: true, Keys: keys})
	where := parquetio.ReadOptions{Keys: keys, Where: []parquetio.Range{{Column: "s", Min: "x"}, {Column: "a", Min: 1}}}
	if n := must(rows(must(parquetio.Decode(good, where)))); n != 2 {
		t.Fatalf("%d rows", n)
	}
	for i := 4; i < len(good); i++ {
		b := bytes.Clone(good)
		b[i] ^= 0x10
		if _, err := parquetio.Decode(b, where); err == nil {
			t.Errorf("byte %d of %d changes, and it is read", i, len(b))
		}
	}
}

// Files of another program: with an encrypted or a signed footer, pages in either mode, keys of their own.
func TestEncryptedFilesOfOthers(t *testing.T) {
	names := must(filepath.Glob("testdata/encrypted/*.parquet"))
	if len(names) < 4 {
		t.Fatalf("there are %d files", len(names))
	}
	plain := must(parquetio.ReadFile("testdata/encrypted/plain", parquetio.ReadOptions{}))
	want := fmt.Sprint(must(plain.(*structured.Tensor).ToNested()))
	for _, name := range names {
		keys := &parquetio.Keys{Footer: []byte("0123456789abcdef")}
		if strings.Contains(name, "columns") {
			keys = &parquetio.Keys{Find: wrapped}
		}
		if strings.Contains(name, "/prefix") {
			keys.Prefix = []byte("a prefix")
		}
		v, err := parquetio.ReadFile(name, parquetio.ReadOptions{Keys: keys})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprint(must(v.(*structured.Tensor).ToNested())); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		keys.Footer, keys.Find = []byte("another, of 16 ."), nil
		if _, err := parquetio.ReadFile(name, parquetio.ReadOptions{Keys: keys}); err == nil {
			t.Errorf("%s is read with another key", name)
		}
	}
}

// wrapped returns a key from what PyArrow says of it: the name of another key and the key itself, where its service hides nothing.
func wrapped(name []byte) ([]byte, error) {
	var material struct {
		Key []byte `json:"wrappedDEK"`
	}
	if err := json.Unmarshal(name, &material); err != nil {
		return nil, err
	}
	_, key, _ := bytes.Cut(material.Key, []byte(":"))
	return key, nil
}

// arrow-go reads what is encrypted here, and the other way around, with a key of a column too.
func TestEncryptedBesideArrowGo(t *testing.T) {
	v := must(structured.FromNested([]any{map[string]any{"a": []any{int64(1), int64(2)}, "s": "x"}, map[string]any{"a": []any{}, "s": "x"}}, structured.NestedOptions{})).(*structured.Tensor)
	keys := &parquetio.Keys{Footer: []byte("0123456789abcdef"), Columns: map[string][]byte{"s": []byte("fedcba9876543210")}}
	b := encoded(t, v, parquetio.WriteOptions{Plain: true, Keys: keys})
	column := func(path string) *parquet.ColumnDecryptionProperties {
		return parquet.NewColumnDecryptionProperties(path, parquet.WithDecryptKey("fedcba9876543210"))
	}
	props := parquet.NewReaderProperties(nil)
	props.FileDecryptProps = parquet.NewFileDecryptionProperties(parquet.WithFooterKey("0123456789abcdef"), parquet.WithColumnKeys(parquet.ColumnPathToDecryptionPropsMap{"s": column("s")}))
	table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(b), props, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	other := must(arrowio.FromTable(table, arrowio.ReadOptions{Plain: true})).(*structured.Tensor)
	if got, want := fmt.Sprint(must(other.ToNested())), fmt.Sprint(must(v.ToNested())); got != want {
		t.Errorf("arrow-go reads %s, want %s", got, want)
	}
	var out bytes.Buffer
	enc := parquet.NewFileEncryptionProperties("0123456789abcdef", parquet.WithEncryptedColumns(parquet.ColumnPathToEncryptionPropsMap{
		"s": parquet.NewColumnEncryptionProperties("s", parquet.WithKey("fedcba9876543210")),
	}))
	if err := pqarrow.WriteTable(table, &out, 1, parquet.NewWriterProperties(parquet.WithEncryptionProperties(enc)), pqarrow.DefaultWriterProps()); err != nil {
		t.Fatal(err)
	}
	got := must(parquetio.Decode(out.Bytes(), parquetio.ReadOptions{Plain: true, Keys: keys})).(*structured.Tensor)
	if x, want := fmt.Sprint(must(got.ToNested())), fmt.Sprint(must(v.ToNested())); x != want {
		t.Errorf("it is read as %s, want %s", x, want)
	}
}
