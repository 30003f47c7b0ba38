package saved_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A record of an archive is to be written, whatever it says.
type record struct {
	name, data string
	plain      string // what data are compressed of

	local            string // another name in the record's own header
	method, flags    uint16
	crc, size, whole uint32 // other ones in the directory
	mode             fs.FileMode
	before           string // bytes in front of the record
	at               int    // a place in the file, instead of where the record stands
}

// archived writes records and their directory.
func archived(records []record, behind string) []byte {
	le := binary.LittleEndian
	var file, directory []byte
	for _, r := range records {
		file = append(file, r.before...)
		at := cmp.Or(r.at, len(file))
		plain := cmp.Or(r.plain, r.data)
		size, whole, sum := uint32(len(r.data)), cmp.Or(r.whole, uint32(len(plain))), crc32.ChecksumIEEE([]byte(plain))
		head := func(b []byte, name string, crc, size, whole uint32) []byte {
			b = le.AppendUint16(le.AppendUint16(le.AppendUint16(b, 20), r.flags), r.method)
			b = le.AppendUint32(le.AppendUint32(b, 0), crc)
			return le.AppendUint16(le.AppendUint16(le.AppendUint32(le.AppendUint32(b, size), whole), uint16(len(name))), 0)
		}
		name := cmp.Or(r.local, r.name)
		if r.at == 0 {
			file = append(append(head(append(file, "PK\x03\x04"...), name, sum, size, whole), name...), r.data...)
		}
		directory = head(append(directory, "PK\x01\x02\x14\x03"...), r.name, cmp.Or(r.crc, sum), cmp.Or(r.size, size), whole)
		directory = le.AppendUint16(le.AppendUint32(directory, 0), 0) // comment, disk, attributes
		mode := uint32(0o100644)
		if r.mode&fs.ModeSymlink != 0 {
			mode = 0o120777
		}
		directory = append(le.AppendUint32(le.AppendUint32(directory, mode<<16), uint32(at)), r.name...)
	}
	file = append(file, behind...)
	at := len(file)
	file = append(append(file, directory...), "PK\x05\x06\x00\x00\x00\x00"...)
	file = le.AppendUint16(le.AppendUint16(file, uint16(len(records))), uint16(len(records)))
	return append(le.AppendUint32(le.AppendUint32(file, uint32(len(directory))), uint32(at)), 0, 0)
}

// deflated is a compressed record.
func deflated(name, text string) record {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	io.WriteString(w, text)
	w.Close()
	return record{name: name, data: b.String(), plain: text, method: zip.Deflate}
}

// attacked is the files of a small model, of which each attack changes some.
func attacked(t *testing.T) map[string]string {
	t.Helper()
	w := tenon.Must(state.New(tensor.Of([]float32{1, 2, 3}, 3)))
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		return ops.Add(ops.Mul(x, w), ops.Sum(tensor.Of(make([]float32, 1000))))
	})
	m.Files["assets/words.txt"] = []byte("a\nb\n")
	if err := errors.Join(m.Name(map[string]any{"w": w}), m.Add("scale", f, tensor.Of([]float32{0, 0, 0}))); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return filesOf(b.Bytes())
}

// listed returns the files with another one, which the manifest describes as it is.
func listed(t *testing.T, files map[string]string, name, text string) map[string]string {
	t.Helper()
	out := maps.Clone(files)
	out[name] = text
	return edited(t, out, func(doc map[string]any) {
		sum := sha256.Sum256([]byte(text))
		entry := map[string]any{"path": name, "size": len(text), "sha256": hex.EncodeToString(sum[:])}
		list := doc["files"].([]any)
		i := slices.IndexFunc(list, func(x any) bool { return x.(map[string]any)["path"] == name })
		if i < 0 {
			doc["files"] = append(list, entry)
		} else {
			list[i] = entry
		}
	})
}

// edited returns the files with another manifest.
func edited(t *testing.T, files map[string]string, change func(doc map[string]any)) map[string]string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(files["model.json"]), &doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	out := maps.Clone(files)
	out["model.json"] = string(must(json.Marshal(doc)))
	return out
}

func recordsOf(files map[string]string) []record {
	var out []record
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out = append(out, record{name: name, data: files[name]})
	}
	return out
}

// everything lists what lies below a folder, with sizes.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			fmt.Fprintln(&b, name, info.Mode(), info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// refused opens what is at a path in all ways and wants errors of a kind that name it and say
// why, memory in proportion to the file, and no file more than before.
func refused(t *testing.T, name, path, why string) {
	t.Helper()
	size := int64(0)
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	before := everything(t, filepath.Dir(path))
	for how, open := range map[string]func() (io.Closer, error){
		"read":   func() (io.Closer, error) { return saved.OpenModel(path) },
		"mapped": func() (io.Closer, error) { return saved.OpenModel(path, saved.ModelOptions{Map: true, Verify: true}) },
	} {
		if strings.Contains(path, ".safetensors") {
			open = func() (io.Closer, error) { return saved.Open(path) }
		}
		var from, to runtime.MemStats
		runtime.ReadMemStats(&from)
		m, err := open()
		runtime.ReadMemStats(&to)
		if err == nil {
			m.Close()
			t.Errorf("%s, %s: it was opened", name, how)
			continue
		}
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s, %s: got %v, want %q and the path", name, how, err, why)
		}
		if got, most := int64(to.TotalAlloc-from.TotalAlloc), 32*size+4<<20; got > most {
			t.Errorf("%s, %s: %d bytes were allocated for a file of %d", name, how, got, size)
		}
	}
	if after := everything(t, filepath.Dir(path)); after != before {
		t.Errorf("%s: there is\n%s, there was\n%s", name, after, before)
	}
}

// TestAttackedArchives opens ZIP files that say of themselves what is not so.
func TestAttackedArchives(t *testing.T) {
	files := attacked(t)
	good := recordsOf(files)
	with := func(change func(r []record) []record) []byte { return archived(change(slices.Clone(good)), "") }
	add := func(r ...record) []byte { return with(func(all []record) []record { return append(all, r...) }) }
	first := func(change func(r *record)) []byte {
		return with(func(all []record) []record { change(&all[0]); return all })
	}
	whole := with(func(r []record) []record { return r })
	patched := func(at int, text string) []byte {
		b := bytes.Clone(whole)
		copy(b[(len(b)+at)%len(b):], text)
		return b
	}
	bomb := deflated("bomb", strings.Repeat("\x00", 100<<20))
	manifest := bomb
	manifest.name = "model.json"
	sly := manifest
	sly.whole = 1000
	replaced := func(by record) []byte {
		return with(func(all []record) []record {
			all[slices.IndexFunc(all, func(r record) bool { return r.name == by.name })] = by
			return all
		})
	}
	for _, c := range []struct {
		name string
		file []byte
		why  string
	}{
		{"bytes before", append([]byte("#!/bin/sh\nexit\n"), whole...), "record"},
		{"bytes before, which the directory allows for", first(func(r *record) { r.before = "%PDF-1.4\n" }), "bytes before it"},
		{"bytes behind", append(bytes.Clone(whole), "trailing"...), "follows the archive"},
		{"a comment", append(patched(-2, "\x05\x00"), "<html"...), "comment"},
		{"bytes between records", with(func(r []record) []record { r[2].before = "hidden"; return r }), "bytes before it"},
		{"bytes before the directory", archived(good, "hidden"), "belong to no record"},
		{"two records on one place", add(record{name: "z", data: good[1].data, at: 1}), "record"},
		{"the same record twice", add(record{name: good[0].name, data: "x"}), "occurs twice"},
		{"the same name but for case", add(record{name: strings.ToUpper(good[0].name), data: "x"}), "occurs twice"},
		{"a record over the next one", first(func(r *record) { r.size, r.whole = 300, 300 }), "record"},
		{"a length beyond the file", first(func(r *record) { r.size, r.whole = 1<<31, 1<<31 }), "longer than the file"},
		{"another name in the record", first(func(r *record) { r.local = strings.Repeat("x", len(r.name)) }), "differs from the directory"},
		{"another checksum in the directory", first(func(r *record) { r.crc = 7 }), "differs from the directory"},
		{"stored, and longer than itself", first(func(r *record) { r.whole = 1 << 30 }), "cannot have"},
		{"encrypted", first(func(r *record) { r.flags = 1 }), "encrypted"},
		{"another method", first(func(r *record) { r.method = 12 }), "method 12"},
		{"a link", add(record{name: "weights/link", data: "/etc/passwd", mode: fs.ModeSymlink}), "not a regular file"},
		{"a bomb", add(bomb), "more than a factor of"},
		{"a bomb for a manifest", replaced(manifest), "more than a factor of"},
		{"a bomb that says it is none", replaced(sly), "longer than the archive says"},
		{"many records on the same bytes", with(func(r []record) []record {
			for i := range 60_000 { // more are zipbounds' TestManyRecords
				r = append(r, record{name: fmt.Sprint(i), data: good[0].data, at: 1})
			}
			return r
		}), "record"},
		{"a directory that is not there", patched(-6, "\xff\xff\xff\x7f"), ""},
		{"a number of records that is not so", patched(-12, "\xff\xff"), "unexpected EOF"},
		{"cut off", whole[:len(whole)-1], "zip: not a valid zip file"},
		{"nothing", nil, "zip: not a valid zip file"},
		{"no manifest", with(func(r []record) []record {
			return slices.DeleteFunc(r, func(r record) bool { return r.name == "model.json" })
		}), "model.json"},
	} {
		path := filepath.Join(t.TempDir(), "inner", "m.zip")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, c.file, 0o666)); err != nil {
			t.Fatal(err)
		}
		refused(t, c.name, path, c.why)
	}
	for _, name := range []string{"../up", "a/../../up", "/root", `..\up`, `C:up`, "nul", "a\x00b", "a//b", "a/./b", strings.Repeat("x", 300), "\xff"} {
		path := filepath.Join(t.TempDir(), "inner", "m.zip")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, add(record{name: name, data: "x"}), 0o666)); err != nil {
			t.Fatal(err)
		}
		refused(t, "a record outside", path, "is not a path inside a folder")
	}
	// What other programs do on the way is no attack: folders by themselves, and compression.
	for name, file := range map[string][]byte{
		"as it was": whole, "folders": add(record{name: "assets/"}, record{name: "weights/"}),
		"compressed": with(func(all []record) []record {
			for i, r := range all {
				all[i] = deflated(r.name, r.data)
			}
			return all
		}),
	} {
		path := filepath.Join(t.TempDir(), "m.zip")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := saved.OpenModel(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if out, err := m.Function("scale").Call([]float32{1, 1, 2}); err != nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]float32{1, 2, 6})) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}

// TestAttackedManifests opens folders and ZIP files whose manifest says what is not so. What
// is wrong is said before any weights are read: there are none.
func TestAttackedManifests(t *testing.T) {
	files := attacked(t)
	list := func(change func(list []any)) map[string]string {
		return edited(t, files, func(doc map[string]any) { change(doc["files"].([]any)) })
	}
	variant := func(change func(v map[string]any)) map[string]string {
		return edited(t, files, func(doc map[string]any) {
			change(doc["functions"].([]any)[0].(map[string]any)["variants"].([]any)[0].(map[string]any))
		})
	}
	text := func(s string) map[string]string {
		out := maps.Clone(files)
		out["model.json"] = s
		return out
	}
	without := func(all map[string]string, name string) map[string]string {
		out := maps.Clone(all)
		delete(out, name)
		return out
	}
	const weights = "weights/variables.safetensors"
	graph := "functions/0-0.graph"
	for name, c := range map[string]struct {
		files map[string]string
		why   string
	}{
		"no JSON":                  {text("{"), "model.json"},
		"a key twice":              {text(strings.Replace(files["model.json"], `"format"`, `"format":"x","format"`, 1)), `"format" occurs twice`},
		"nested deep":              {text(`{"metadata":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}"), "nested too deep"},
		"nested deeper":            {text(`{"metadata":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}"), "max depth"},
		"a huge manifest":          {text(files["model.json"] + strings.Repeat(" ", 17<<20)), "more than the limit of 16777216"},
		"another format":           {edited(t, files, func(doc map[string]any) { doc["format"] = "other" }), `"other"`},
		"a later format":           {edited(t, files, func(doc map[string]any) { doc["version"] = []int{9, 0} }), "version 9.0"},
		"another shape":            {edited(t, files, func(doc map[string]any) { doc["functions"] = 3 }), "functions"},
		"a size beyond":            {list(func(l []any) { l[0].(map[string]any)["size"] = int64(1) << 60 }), "the manifest says 1152921504606846976"},
		"a negative size":          {list(func(l []any) { l[0].(map[string]any)["size"] = -1 }), "negative size"},
		"another digest":           {list(func(l []any) { l[0].(map[string]any)["sha256"] = strings.Repeat("0", 64) }), "has the digest"},
		"a file outside":           {list(func(l []any) { l[0].(map[string]any)["path"] = "../../secret" }), "is not a path inside a folder"},
		"a file at root":           {list(func(l []any) { l[0].(map[string]any)["path"] = "/etc/passwd" }), "is not a path inside a folder"},
		"a file twice":             {edited(t, files, func(doc map[string]any) { doc["files"] = append(doc["files"].([]any), doc["files"].([]any)[0]) }), "occurs twice"},
		"a file of the system":     {list(func(l []any) { l[0].(map[string]any)["path"] = "aux.txt" }), "is not a path inside a folder"},
		"a file missing":           {without(files, "assets/words.txt"), "assets/words.txt"},
		"weights missing":          {without(files, weights), weights},
		"no graph":                 {variant(func(v map[string]any) { v["graph"] = "functions/none.graph" }), "does not list"},
		"a graph that is none":     {listed(t, files, graph, "tenon graph 9\n"), "are not a graph"},
		"a graph cut off":          {listed(t, files, graph, files[graph][:100]), graph},
		"a Spec that is none":      {variant(func(v map[string]any) { v["args"].([]any)[0].(map[string]any)["spec"] = "AAAA" }), "arguments"},
		"a place too deep":         {variant(func(v map[string]any) { v["args"].([]any)[0].(map[string]any)["path"] = make([]int, 300) }), "300 steps"},
		"a negative place":         {variant(func(v map[string]any) { v["args"].([]any)[0].(map[string]any)["path"] = []int{-1} }), "number of an argument"},
		"other arguments":          {variant(func(v map[string]any) { v["args"] = []any{} }), "parameters"},
		"other results":            {variant(func(v map[string]any) { v["results"] = []any{} }), "outputs"},
		"an unknown variable":      {variant(func(v map[string]any) { v["captures"] = []any{map[string]any{"variable": "none"}} }), `no variable "none"`},
		"an unknown effect":        {variant(func(v map[string]any) { v["effects"] = []any{map[string]any{"sub": "w"}} }), "not an effect"},
		"an assignment to nothing": {variant(func(v map[string]any) { v["effects"] = []any{"none"} }), `no variable "none"`},
		"a function twice": {edited(t, files, func(doc map[string]any) {
			doc["functions"] = append(doc["functions"].([]any), doc["functions"].([]any)[0])
		}), "occurs twice"},
		"a variable twice": {edited(t, files, func(doc map[string]any) {
			doc["variables"] = append(doc["variables"].([]any), doc["variables"].([]any)[0])
		}), "occurs twice"},
		"operations that are not known": {without(edited(t, files, func(doc map[string]any) { doc["ops"] = []string{"evil.exec", "evil.open"} }), weights), "evil.exec, evil.open"},
	} {
		folder := filepath.Join(t.TempDir(), "inner", "m")
		for file, text := range c.files {
			at := filepath.Join(folder, filepath.FromSlash(file))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, name, folder, c.why)
		path := filepath.Join(t.TempDir(), "inner", "m.zip")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, archived(recordsOf(c.files), ""), 0o666)); err != nil {
			t.Fatal(err)
		}
		refused(t, name, path, c.why)
	}
}

// TestAttackedFolders opens folders in which something else stands in the place of each file.
func TestAttackedFolders(t *testing.T) {
	files := attacked(t)
	for file := range files {
		for what, put := range map[string]func(name, outside string) error{
			"a link to a file outside":    func(name, outside string) error { return os.Symlink(outside, name) },
			"a link to what is not there": func(name, outside string) error { return os.Symlink(outside+"x", name) },
			"a link to itself":            func(name, _ string) error { return os.Symlink(filepath.Base(name), name) },
			"a link to a file inside": func(name, _ string) error {
				return errors.Join(os.WriteFile(name+".x", []byte(files[file]), 0o666), os.Symlink(filepath.Base(name)+".x", name))
			},
			"a folder":     func(name, _ string) error { return os.Mkdir(name, 0o777) },
			"a pipe":       pipe,
			"nothing":      func(name, _ string) error { return nil },
			"half of it":   func(name, _ string) error { return os.WriteFile(name, []byte(files[file][:len(files[file])/2]), 0o666) },
			"more than it": func(name, _ string) error { return os.WriteFile(name, []byte(files[file]+"{"), 0o666) },
		} {
			dir := t.TempDir()
			folder, outside := filepath.Join(dir, "inner", "m"), filepath.Join(dir, "secret")
			if err := os.WriteFile(outside, []byte(files[file]), 0o666); err != nil {
				t.Fatal(err)
			}
			for f, text := range files {
				at := filepath.Join(folder, filepath.FromSlash(f))
				err := os.MkdirAll(filepath.Dir(at), 0o777)
				if f != file {
					err = errors.Join(err, os.WriteFile(at, []byte(text), 0o666))
				} else if e := put(at, outside); errors.Is(e, errors.ErrUnsupported) {
					t.Log(what, e)
					continue
				} else {
					err = errors.Join(err, e)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			refused(t, file+": "+what, folder, file)
		}
	}
	for what, folder := range map[string]string{"weights": "weights", "functions": "functions"} {
		dir := t.TempDir()
		for f, text := range files {
			at := filepath.Join(dir, "inner", "m", filepath.FromSlash(f))
			if strings.HasPrefix(f, folder) {
				at = filepath.Join(dir, "elsewhere", filepath.FromSlash(f))
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(dir, "elsewhere", folder), filepath.Join(dir, "inner", "m", folder)); err != nil {
			t.Skip(err)
		}
		refused(t, "a link for the folder "+what, filepath.Join(dir, "inner", "m"), folder+" is a link")
	}
}

// TestAttackedTensors opens safetensors files, and indices of several.
func TestAttackedTensors(t *testing.T) {
	many := func(n int, offsets string) []byte {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"%d":{"dtype":"U8","shape":[4],"data_offsets":%s}`, i, offsets)
		}
		b.WriteByte('}')
		return foreign(b.String(), []byte{1, 2, 3, 4})
	}
	one := foreign(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, []byte{1, 2, 3, 4})
	for name, c := range map[string]struct {
		file []byte
		why  string
	}{
		"many tensors on the same bytes": {many(50_000, "[0,4]"), "overlap"},
		"another format behind":          {append(bytes.Clone(one), "PK\x05\x06"...), "the file has 8"},
		"another format before":          {append([]byte("#!/bin/sh"), one...), "the limit of 100000000"},
		"two bytes missing":              {one[:len(one)-2], "the file has 2"},
		"a length beyond the file":       {binary.LittleEndian.AppendUint64(nil, 99_999_999), "only 0 bytes follow"},
		"a length that overflows":        {binary.LittleEndian.AppendUint64(nil, 1<<64-1), "the limit of 100000000"},
		"2 times 2^63-1":                 {foreign(`{"a":{"dtype":"U8","shape":[2,9223372036854775807],"data_offsets":[0,4]}}`, []byte{1, 2, 3, 4}), "too many elements"},
		"2 times 2^64-2":                 {foreign(`{"a":{"dtype":"U8","shape":[2,18446744073709551614],"data_offsets":[0,4]}}`, []byte{1, 2, 3, 4}), "is not a size"},
		"many sizes of one":              {foreign(`{"a":{"dtype":"U8","shape":[`+strings.Repeat("1,", 10_000)+`1],"data_offsets":[0,1]}}`, []byte{1}), "numbers"},
		"nested deep":                    {foreign(strings.Repeat(`{"a":`, 100_000), nil), "tensor"},
		"a number of many digits":        {foreign(`{"a":{"dtype":"U8","shape":[`+strings.Repeat("9", 100_000)+`],"data_offsets":[0,4]}}`, nil), "is not a size"},
	} {
		path := filepath.Join(t.TempDir(), "inner", "x.safetensors")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, c.file, 0o666)); err != nil {
			t.Fatal(err)
		}
		refused(t, name, path, c.why)
	}
	for name, index := range map[string]string{
		"outside": `{"weight_map":{"a":"../secret.safetensors"}}`, "the root": `{"weight_map":{"a":"/secret.safetensors"}}`,
		"a link": `{"weight_map":{"a":"link.safetensors"}}`, "a pipe": `{"weight_map":{"a":"pipe"}}`, "a folder": `{"weight_map":{"a":"folder"}}`,
		"itself": `{"weight_map":{"a":"x.safetensors.index.json"}}`, "no tensor": `{"weight_map":{"b":"good.safetensors"}}`,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "inner", "x.safetensors.index.json")
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "inner", "folder"), 0o777), os.WriteFile(path, []byte(index), 0o666),
			os.WriteFile(filepath.Join(dir, "secret.safetensors"), one, 0o666), os.WriteFile(filepath.Join(dir, "inner", "good.safetensors"), one, 0o666)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../secret.safetensors", filepath.Join(dir, "inner", "link.safetensors")); err != nil {
			t.Skip(err)
		}
		if err := pipe(filepath.Join(dir, "inner", "pipe"), ""); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
		refused(t, name, path, "")
	}
}

func filesOf(archive []byte) map[string]string {
	files := map[string]string{}
	for _, r := range must(zip.NewReader(bytes.NewReader(archive), int64(len(archive)))).File {
		files[r.Name] = string(must(io.ReadAll(must(r.Open()))))
	}
	return files
}

// partsOf returns the tensors of a Value, or the Specs of a Spec's.
func partsOf(x any) []any { return must(nest.Flatten(x, nest.Options{Expand: true})) }

// TestResultsOfAttackedGraphs calls graphs whose results are not what the model says of them: an
// error of the call, not a Value that is none.
func TestResultsOfAttackedGraphs(t *testing.T) {
	vector := tensor.NewSpec(dtype.Float32, shape.Of(-1))
	rows := ragged.FromSlices([][]float32{{1, 2}, {3}})
	table := must(sparse.New(tensor.Of([]int64{0, 1, 1, 2}, 2, 2), []float32{1, 2}, []int64{2, 3}))
	cells := must(masked.New([]float32{1, 2}, []bool{true, false}))
	for _, c := range []struct {
		name  string
		spec  tenon.Spec // of the result, as the model says
		args  []any
		good  []any
		bad   [][]any
		where string
	}{
		{"sizes", tensor.NewSpec(dtype.Float32, shape.Of(3)), []any{vector}, []any{[]float32{1, 2, 3}}, [][]any{{[]float32{1, 2}}, {[]float32{}}}, "result [0]"},
		{"rows", rows.Spec(), partsOf(rows.Spec()), partsOf(rows), [][]any{
			{[]float32{1, 2, 3}, []int64{0, 2, 1 << 40}}, {[]float32{1, 2, 3}, []int64{0, -5, 3}}, {[]float32{1, 2, 3}, []int64{1, 2, 3}}, {[]float32{1}, []int64{0, 2, 3}}, {[]float32{1, 2, 3}, []int64{}}}, "result [0]"},
		{"a sparse matrix", table.Spec(), partsOf(table.Spec()), partsOf(table), [][]any{
			{tensor.Of([]int64{0, 1, 1, 2000}, 2, 2), []float32{1, 2}, []int64{2, 3}}, {tensor.Of([]int64{0, -1, 1, 2}, 2, 2), []float32{1, 2}, []int64{2, 3}},
			{tensor.Of([]int64{0, 1, 1, 2}, 2, 2), []float32{1}, []int64{2, 3}}}, "result [0]"},
		{"masked cells", cells.Spec(), partsOf(cells.Spec()), partsOf(cells), [][]any{{[]float32{1, 2}, []bool{true}}, {[]float32{1, 2}, []bool{}}}, "result [0]"},
	} {
		open := make([]any, len(c.args)) // of no size that is known
		for i, s := range c.args {
			open[i] = s
			if ts := s.(*tensor.Spec); len(c.args) > 1 {
				dims := slices.Repeat([]int{-1}, ts.Shape().Rank())
				open[i] = tensor.NewSpec(ts.DType(), shape.Of(dims...))
			}
		}
		m := saved.NewModel()
		var traced saved.Traced
		switch len(open) {
		case 1:
			traced = function.New(func(a tensor.Tensor) tensor.Tensor { return a })
		case 2:
			traced = function.New(func(a, b tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return a, b })
		default:
			traced = function.New(func(a, b, c tensor.Tensor) (tensor.Tensor, tensor.Tensor, tensor.Tensor) { return a, b, c })
		}
		var b bytes.Buffer
		if err := errors.Join(m.Add("same", traced, open...), m.Encode(&b)); err != nil {
			t.Fatal(err)
		}
		spec := base64.StdEncoding.EncodeToString(tenon.AppendBinary(nil, c.spec))
		files := edited(t, filesOf(b.Bytes()), func(doc map[string]any) {
			doc["functions"].([]any)[0].(map[string]any)["variants"].([]any)[0].(map[string]any)["results"] = []any{map[string]any{"path": []int{0}, "spec": spec}}
		})
		file := archived(recordsOf(files), "")
		m, err := saved.DecodeModel(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, err := m.Function("same").Call(c.good...); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i, bad := range c.bad {
			out, err := m.Function("same").Call(bad...)
			var e *tenon.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.where) {
				t.Errorf("%s, %d: got %v, %v", c.name, i, out, err)
			}
		}
	}
}
