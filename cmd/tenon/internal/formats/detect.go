package formats

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Head is what is known of a file when its format is detected.
type Head struct {
	Name  string // of the file
	Bytes []byte // the first bytes of the file, after decompression; nil for a folder
	Dir   fs.FS  // the contents of the folder; nil for a file
	Path  string // empty for a pipe

	// Entries are the names in a ZIP file.
	Entries []string
}

// headSize is the number of bytes from which formats are detected.
const headSize = 4096

func (h Head) magic(texts ...string) bool {
	for _, t := range texts {
		if bytes.HasPrefix(h.Bytes, []byte(t)) {
			return true
		}
	}
	return false
}

// named reports whether the file's name has one of several suffixes, ignoring a suffix of
// compression.
func (h Head) named(suffixes ...string) bool {
	base := strings.ToLower(h.Name)
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst")
	for _, s := range suffixes {
		if strings.HasSuffix(base, s) {
			return true
		}
	}
	return false
}

// has reports whether a folder, or a ZIP file, has an entry with a name, at the top or inside of a
// single top folder.
func (h Head) has(name string) bool {
	if h.Dir != nil {
		_, err := fs.Stat(h.Dir, name)
		return err == nil
	}
	for _, e := range h.Entries {
		if e == name || strings.Count(e, "/") == 1 && strings.HasSuffix(e, "/"+name) {
			return true
		}
	}
	return false
}

// json reports whether the text begins like a JSON document or record.
func (h Head) json() bool {
	b := bytes.TrimLeft(bytes.TrimPrefix(h.Bytes, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(b) == 0 {
		return h.named(".json", ".jsonl", ".ndjson")
	}
	return b[0] == '{' || b[0] == '[' || h.named(".json", ".jsonl", ".ndjson")
}

// text reports whether the bytes can be text.
func (h Head) text() bool {
	if h.Dir != nil || bytes.IndexByte(h.Bytes, 0) >= 0 {
		return false
	}
	b := h.Bytes
	for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); i++ { // the last character may be truncated
		b = b[:len(b)-1]
	}
	return utf8.Valid(b)
}

// records reports whether the bytes begin like a TFRecord: with a length and its checksum.
func (h Head) records() bool {
	if len(h.Bytes) < 12 {
		return false
	}
	sum := crc32.Checksum(h.Bytes[:8], crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.Uint32(h.Bytes[8:]) == (sum>>15|sum<<17)+0xa282ead8
}

// safetensors reports whether the bytes begin with the length of a header, and JSON.
func (h Head) safetensors() bool {
	return len(h.Bytes) > 9 && binary.LittleEndian.Uint64(h.Bytes) < 1<<32 && binary.LittleEndian.Uint64(h.Bytes) >= 2 && h.Bytes[8] == '{'
}

// onnx reports whether the bytes begin like an ONNX model: with the version of the format, a small
// number, followed by another field of ModelProto.
func (h Head) onnx() bool {
	if len(h.Bytes) < 4 || h.Bytes[0] != 1<<3 || h.Bytes[1] == 0 || h.Bytes[1] > 63 {
		return false
	}
	switch field := h.Bytes[2] >> 3; field {
	case 5:
		return h.Bytes[2]&7 == 0
	case 2, 3, 4, 6, 7, 8, 14:
		return h.Bytes[2]&7 == 2
	}
	return false
}

// firstLine returns the first line of the text.
func (h Head) firstLine() []byte {
	line, _, _ := bytes.Cut(h.Bytes, []byte{'\n'})
	return line
}

// beside reports whether there is a file with the path followed by a suffix.
func (h Head) beside(suffix string) bool {
	if h.Path == "" {
		return false
	}
	_, err := os.Stat(filepath.Clean(h.Path) + suffix)
	return err == nil
}
