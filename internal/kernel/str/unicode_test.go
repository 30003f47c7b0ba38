package str

import (
	"slices"
	"strings"
	"testing"
)

// decode returns the row splits, code points and positions of the characters of strings.
func decode(x Column, from Encoding, o UnicodeOptions) (splits []int64, codes []int32, at []int64, err error) {
	splits = make([]int64, x.Len()+1)
	if err := CharSplits(splits, x, from, o); err != nil {
		return nil, nil, nil, err
	}
	n := splits[x.Len()]
	codes, at = make([]int32, n), make([]int64, n)
	Decode(codes, at, splits, x, from, o)
	return splits, codes, at, nil
}

// splitChars is decode with the characters as strings.
func splitChars(x Column, from Encoding, o UnicodeOptions) (splits []int64, chars Column, at []int64, err error) {
	splits, codes, at, err := decode(x, from, o)
	return splits, Chars(codes, from), at, err
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		enc   Encoding
		s     string
		codes []int32
		at    []int64
	}{
		{UTF8, "aé日💩", []int32{97, 233, 26085, 128169}, []int64{0, 1, 3, 6}},
		{UTF8, "\xe2\x82", []int32{65533}, []int64{0}},
		{UTF8, "\xe2\x82a", []int32{65533, 97}, []int64{0, 2}},
		{UTF8, "\xf0\x9f\x92", []int32{65533}, []int64{0}},
		{UTF8, "\xc0\x80", []int32{65533, 65533}, []int64{0, 1}},
		{UTF8, "\xed\xa0\x80", []int32{65533, 65533, 65533}, []int64{0, 1, 2}},
		{UTF8, "\xf4\x90\x80\x80", []int32{65533, 65533, 65533, 65533}, []int64{0, 1, 2, 3}},
		{UTF8, "\xe0\x80\xaf", []int32{65533, 65533, 65533}, []int64{0, 1, 2}},
		{UTF8, "\xf0\x80\x80\x80", []int32{65533, 65533, 65533, 65533}, []int64{0, 1, 2, 3}},
		{UTF8, "a\x80b", []int32{97, 65533, 98}, []int64{0, 1, 2}},
		{UTF8, "\ufffe\ufeffA\ufffd", []int32{65534, 65279, 65, 65533}, []int64{0, 3, 6, 7}},
		{UTF16BE, "\xd8\x3d\xdc\xa9\x00A", []int32{128169, 65}, []int64{0, 4}},
		{UTF16BE, "\xd8\x3d\x00A", []int32{65533, 65}, []int64{0, 2}},
		{UTF16BE, "\xdc\x3d\x00A", []int32{65533, 65}, []int64{0, 2}},
		{UTF16BE, "\x00A\x00", []int32{65, 65533}, []int64{0, 2}},
		{UTF16BE, "\xd8\x3d\xdc", []int32{65533}, []int64{0}},
		{UTF16BE, "a", []int32{65533}, []int64{0}},
		{UTF32BE, "a", []int32{65533}, []int64{0}},
		{UTF16LE, "A\x00\x3d\xd8\xa9\xdc", []int32{65, 128169}, []int64{0, 2}},
		{UTF32BE, "\x00\x00\x00A\x00\x00\x00", []int32{65, 65533}, []int64{0, 4}},
		{UTF32BE, "\x00\x11\x00\x00\x00\x00\x00A", []int32{65533, 65}, []int64{0, 4}},
		{UTF32BE, "\x00\x00\xd8\x00\x80\x00\x00A", []int32{65533, 65533}, []int64{0, 4}},
		{UTF32LE, "A\x00\x00\x00", []int32{65}, []int64{0}},
		{ASCII, "a\xe9b", []int32{97, 65533, 98}, []int64{0, 1, 2}},
		{Latin1, "a\xe9\x80", []int32{97, 233, 128}, []int64{0, 1, 2}},
		{UTF8, "", nil, nil},
	} {
		splits, codes, at, err := decode(later(c.s, ""), c.enc, UnicodeOptions{})
		if err != nil || !slices.Equal(codes, c.codes) || !slices.Equal(at, c.at) ||
			!slices.Equal(splits, []int64{0, int64(len(codes)), int64(len(codes))}) {
			t.Errorf("Decode(%q, %v) = %v, %v, %v, %v", c.s, c.enc, splits, codes, at, err)
		}
	}
}

func TestDecodePolicies(t *testing.T) {
	x := Of("ok", "a\xffb\x01")
	for _, c := range []struct {
		o    UnicodeOptions
		want []int32 // nil for an error
	}{
		{UnicodeOptions{}, []int32{111, 107, 97, 65533, 98, 1}},
		{UnicodeOptions{Replacement: '?'}, []int32{111, 107, 97, 63, 98, 1}},
		{UnicodeOptions{Errors: Ignore}, []int32{111, 107, 97, 98, 1}},
		{UnicodeOptions{Errors: Ignore, ReplaceControl: true}, []int32{111, 107, 97, 98}},
		{UnicodeOptions{ReplaceControl: true}, []int32{111, 107, 97, 65533, 98, 65533}},
		{UnicodeOptions{Errors: Strict}, nil},
	} {
		_, codes, _, err := decode(x, UTF8, c.o)
		if !slices.Equal(codes, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%+v: %v, %v", c.o, codes, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "string 1: malformed UTF-8 at byte 1") {
			t.Errorf("error %v", err)
		}
	}
	// Replacing control characters is no failure.
	if _, codes, _, err := decode(Of("\x01a"), UTF8, UnicodeOptions{Errors: Strict, ReplaceControl: true}); err != nil || !slices.Equal(codes, []int32{65533, 97}) {
		t.Errorf("%v, %v", codes, err)
	}
}

func TestEncode(t *testing.T) {
	codes := []int32{72, 0xd800, 0x1f4a9, -1, 0x110000, 0xfffe}
	splits := []int64{0, 2, 2, 6}
	for _, c := range []struct {
		to   Encoding
		o    UnicodeOptions
		want []string
	}{
		{UTF8, UnicodeOptions{}, []string{"H\ufffd", "", "💩\ufffd\ufffd\ufffe"}},
		{UTF8, UnicodeOptions{Errors: Ignore}, []string{"H", "", "💩\ufffe"}},
		{UTF16BE, UnicodeOptions{Errors: Ignore}, []string{"\x00H", "", "\xd8\x3d\xdc\xa9\xff\xfe"}},
		{UTF16BE, UnicodeOptions{Replacement: 0x1f4a9}, []string{"\x00H\xd8\x3d\xdc\xa9", "", "\xd8\x3d\xdc\xa9\xd8\x3d\xdc\xa9\xd8\x3d\xdc\xa9\xff\xfe"}},
		{UTF32BE, UnicodeOptions{Errors: Ignore}, []string{"\x00\x00\x00H", "", "\x00\x01\xf4\xa9\x00\x00\xff\xfe"}},
	} {
		got, err := Encode(codes, splits, c.to, c.o)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, c.want...)
	}
	if _, err := Encode(codes, splits, UTF8, UnicodeOptions{Errors: Strict}); err == nil || !strings.Contains(err.Error(), "string 0: value 1 (55296) is not a code point") {
		t.Errorf("error %v", err)
	}
}

func TestTranscodeAndSplitChars(t *testing.T) {
	x := later("Étude", "", "日")
	utf16, err := Transcode(x, UTF8, UTF16BE, UnicodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, utf16, "\x00\xc9\x00t\x00u\x00d\x00e", "", "\x65\xe5")
	back, err := Transcode(utf16, UTF16BE, UTF8, UnicodeOptions{Errors: Strict})
	if err != nil {
		t.Fatal(err)
	}
	same(t, back, x.Strings()...)
	splits, chars, at, err := splitChars(x, UTF8, UnicodeOptions{})
	same(t, chars, "É", "t", "u", "d", "e", "日")
	if err != nil || !slices.Equal(splits, []int64{0, 5, 5, 6}) || !slices.Equal(at, []int64{0, 2, 3, 4, 5, 0}) {
		t.Errorf("splits %v, at %v, error %v", splits, at, err)
	}
	_, chars, _, _ = splitChars(Of("\x00a\x00b"), UTF16BE, UnicodeOptions{})
	same(t, chars, "\x00a", "\x00b")
	if _, err := Transcode(Of("\xff"), UTF8, UTF8, UnicodeOptions{Errors: Strict}); err == nil {
		t.Error("no error for malformed bytes")
	}
	if _, _, _, err := splitChars(Of("\xff"), UTF8, UnicodeOptions{Errors: Strict}); err == nil {
		t.Error("no error for malformed bytes")
	}
}

func TestEncodingNames(t *testing.T) {
	for name, want := range map[string]Encoding{
		"UTF-8": UTF8, "utf8": UTF8, "UTF-16-BE": UTF16BE, "UTF-16BE": UTF16BE, "utf_32_be": UTF32BE,
		"US-ASCII": ASCII, "ascii": ASCII, "ISO-8859-1": Latin1, "latin1": Latin1,
	} {
		if got, err := ParseEncoding(name); err != nil || got != want {
			t.Errorf("ParseEncoding(%q) = %v, %v", name, got, err)
		}
	}
	if _, err := ParseEncoding("NO-SUCH"); err == nil || !strings.Contains(err.Error(), "UTF-16-BE") {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"LATIN-1", "UTF-16-LE", ""} {
		if _, err := ParseOutputEncoding(name); err == nil {
			t.Errorf("ParseOutputEncoding(%q) is accepted", name)
		}
	}
	if e, err := ParseOutputEncoding("UTF-32-BE"); err != nil || e != UTF32BE {
		t.Errorf("UTF-32-BE: %v, %v", e, err)
	}
	for _, name := range []string{"replace", "ignore", "strict"} {
		if _, err := ParsePolicy(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := ParsePolicy("keep"); err == nil {
		t.Error("policy keep is accepted")
	}
}

func FuzzUnicode(f *testing.F) {
	for _, s := range []string{"", "Étude", "\xe2\x82a", "\xf4\x90\x80\x80", "\xd8\x3d\xdc", "\x00\x00\xd8\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		x := Of(string(s))
		for e := UTF8; e <= Latin1; e++ {
			_, codes, at, err := decode(x, e, UnicodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(at) || len(at) != len(codes) {
				t.Fatalf("%v: %d codes at %v", e, len(codes), at)
			}
			for _, c := range codes {
				if !isScalar(int64(c)) {
					t.Fatalf("%v: code point %x", e, c)
				}
			}
			if e > UTF32BE {
				continue
			}
			// What has been decoded is written and read back unchanged.
			again, err := Encode(codes, []int64{0, int64(len(codes))}, e, UnicodeOptions{Errors: Strict})
			if err != nil {
				t.Fatal(err)
			}
			if _, back, _, err := decode(again, e, UnicodeOptions{Errors: Strict}); err != nil || !slices.Equal(back, codes) {
				t.Fatalf("%v: %x read back as %x, %v", e, codes, back, err)
			}
		}
		// The bytes of valid UTF-8 are those of package strings.
		_, _, _, err := decode(x, UTF8, UnicodeOptions{Errors: Strict})
		if valid := strings.ToValidUTF8(string(s), "") == string(s); valid != (err == nil) {
			t.Fatalf("%q: valid is %v, error %v", s, valid, err)
		}
	})
}
