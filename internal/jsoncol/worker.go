package jsoncol

import "bytes"

// A worker parses chunks into nodes of its own, which are appended to the sinks when it is the
// chunk's turn, so that rows stay in order and workers rarely wait for each other.
type worker struct {
	r       *reader
	p       parser
	root    *node
	version int // version of the reader's schema that root is for
	buf     []byte
	huge    bool // the nodes expect one huge record
	cursor  cursor
	retried int // record for which the schema was widened last, or -1
	bad     []badLine
	skipped int64
}

// A badLine is a line that lenient reading skips.
type badLine struct {
	rec   int // beginning of the line
	row   int
	lines int64
	fail  *failure
}

// run takes chunks until there are no more.
func (w *worker) run() {
	for {
		c := w.r.feed.next(&w.buf)
		if c == nil {
			return
		}
		w.chunk(c)
	}
}

// chunk reads c and appends it to the sinks.
func (w *worker) chunk(c *chunk) {
	r := w.r
	done := true
	if c.err == nil {
		w.begin(c)
		done = w.parse()
	}
	r.await(c.seq)
	ok := !r.stopped() && w.settle(c, done)
	if ok {
		r.merger.copies.RLock()
	}
	r.pass()
	if ok {
		w.root.copyOut()
		r.merger.copies.RUnlock()
	}
}

// settle completes c when it is its turn: it reserves room for the parsed rows and handles records
// that failed. It reports whether the rows of root are still to be copied.
func (w *worker) settle(c *chunk, done bool) bool {
	r := w.r
	if c.err != nil {
		r.stop(c.err)
		return false
	}
	r.arrive(c)
	if r.o.Lenient && c.format != Lines {
		r.stop(errLenient)
		return false
	}
	if w.version != r.version {
		// The schema has been widened in the meantime. What was read may have been read for another
		// type, and what was wrong may be valid now.
		w.begin(c)
		done = w.parse()
	}
	for !done {
		if !w.recover(c) {
			return false
		}
		done = w.parse()
	}
	if c.tail != nil {
		r.stop(r.locate(c, c.tail, r.rows+int64(w.root.n)))
		return false
	}
	w.append(c)
	r.leave(c, &w.cursor)
	return r.batch == 0
}

// begin puts the worker at the first record of c, with nodes for the current schema.
func (w *worker) begin(c *chunk) {
	w.adopt()
	w.root.reset()
	if len(c.data) >= w.r.merger.huge {
		w.root.expect(len(c.data), bytes.Count(c.data, []byte{','}))
		w.huge = true
	} else if w.huge {
		w.root.expect(0, 0)
		w.huge = false
	}
	w.p.t = newText(c.data)
	w.p.end, w.p.closed = len(c.data), c.closed
	w.p.multi = c.format != Lines
	w.p.sparse = gapsFor(int64(len(c.data)))
	w.cursor = cursor{format: c.format, more: c.more}
	w.retried = -1
	w.bad, w.skipped = w.bad[:0], 0
}

// gapsFor returns the number of missing values that inference may fill in for n bytes of input:
// enough for records that each have a few of many fields, but so few that a small input cannot
// create columns of arbitrary size.
func gapsFor(n int64) int64 { return 16*n + 1<<20 }

// adopt creates nodes for the reader's schema if the current ones are for an older version.
func (w *worker) adopt() {
	s, version := w.r.current()
	if w.root == nil || version != w.version {
		w.root, w.version = newNode(s, w.r.o), version
	}
}

// parse continues to the end of the chunk, or to a record that fails in a way that has to wait for
// the chunk's turn.
func (w *worker) parse() bool {
	for !w.p.records(&w.cursor, w.root) {
		if !w.r.o.Lenient || w.p.failed.widen {
			return false
		}
		w.skipLine(w.p.failed)
	}
	return true
}

// skipLine skips the line at the cursor, because of f.
func (w *worker) skipLine(f *failure) {
	c := &w.cursor
	w.skipped++
	if len(w.bad) < w.r.o.MaxBad {
		w.bad = append(w.bad, badLine{rec: c.rec, row: w.root.n, lines: c.lines, fail: f})
	}
	if n := bytes.IndexByte(w.p.t.slice(c.rec, w.p.end), '\n'); n >= 0 {
		c.rec += n + 1
		c.lines++
	} else {
		c.rec = w.p.end
	}
}

// append reserves room for the rows of root in the sinks, when it is the chunk's turn. Rows are not
// copied yet, except for batches.
func (w *worker) append(c *chunk) {
	r := w.r
	r.report(c, w)
	r.merger.scale(c.read, r.feed.total)
	lo, hi := 0, w.root.n
	for r.batch > 0 && hi-lo >= r.batch-r.sink.n {
		end := lo + r.batch - r.sink.n
		r.merger.reserve(r.sink, w.root, lo, end)
		w.root.copyOut()
		r.emit()
		lo = end
	}
	r.merger.reserve(r.sink, w.root, lo, hi)
	if r.batch > 0 {
		w.root.copyOut()
	}
	r.merger.resume()
	r.rows += int64(hi)
}

// flush appends and copies all rows, so that root is empty.
func (w *worker) flush(c *chunk) {
	w.append(c)
	if w.r.batch == 0 {
		w.root.copyOut()
	}
	w.root.reset()
}

// recover handles the record that failed, when it is the chunk's turn: it widens the schema, or
// skips the line, or gives up and returns false.
func (w *worker) recover(c *chunk) bool {
	r := w.r
	fail := w.p.failed
	w.flush(c)
	fail.row = 0
	if r.o.Lenient && r.schema.Kind == Null && r.schema.inferred && !r.elected {
		r.elected = true
		s := r.schema.clone()
		w.p.columns = s.columns()
		w.p.inferMajority(w.cursor, s)
		if s.Kind != Null && r.widen(s) == nil {
			w.adopt()
			return true
		}
	}
	if r.elected && w.p.needed && fail.code == UnknownKey {
		w.skipLine(fail) // most records lack this field
		return true
	}
	if fail.widen && w.retried != w.cursor.rec && r.effort >= 0 {
		w.retried = w.cursor.rec
		s := r.schema.clone()
		w.p.columns = s.columns()
		if r.o.Lenient {
			// Otherwise a whole chunk is used for inference, or nearly so, rather than a single
			// line.
			r.effort -= int64(w.p.columns)
		}
		w.p.failed = nil
		inferred := w.p.inferRecords(w.cursor, s, r.o.Lenient)
		switch late := w.p.failed; {
		case !inferred || late != nil && late.keys && r.sink.n == 0 && r.rows == 0:
			fail = late
		default:
			fail = r.widen(s)
			if fail == nil {
				w.adopt()
				return true
			}
			if fail.at < 0 {
				fail.at = w.cursor.rec
			}
		}
	}
	if r.remap(fail) {
		w.retried = -1
		w.adopt()
		return true
	}
	if r.o.Lenient && fail.code != TooSparse {
		w.skipLine(fail)
		return true
	}
	r.stop(r.locate(c, fail, r.rows+fail.row))
	return false
}
