package jsoncol

// detect returns the format of text that begins with b; whole says that b is all of it.
//
// If one line is a complete value, the format is Lines, except that a single array on a single line
// is more likely a Document that contains the records.
func detect(b []byte, whole bool) Format {
	start := 0
	for start < len(b) && isSpace(b[start]) {
		start++
	}
	if start == len(b) {
		return Lines
	}
	o := Options{MaxDepth: defaultMaxDepth, NonFinite: true, Unicode: UnicodeReplace}
	p := newParser(&o)
	c := append(make([]byte, 0, len(b)-start+1+slack), b[start:]...)
	seal(c, Lines)
	p.t, p.end = newText(c), len(c)
	i := p.skip(0, p.maxDepth)
	if i >= 0 {
		if i = p.space(i); c[:len(c)+1][i] != '\n' {
			i = -1
		}
	}
	if i >= 0 && (i < len(c) || whole) {
		rest := i
		for rest < len(c) && isSpace(c[rest]) {
			rest++
		}
		if c[0] != '[' || rest < len(c) {
			return Lines
		}
	}
	if c[0] == '[' {
		return Document
	}
	return Concatenated
}
