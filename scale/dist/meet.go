package dist

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/scale/dist/internal/wire"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A call describes an operation: ranks must agree on it.
type call struct {
	kind    string // "all_reduce"
	combine Reduction
	dtype   dtype.DType
	shape   shape.Shape // of the operand of one rank
	axis    int         // along which sizes may differ
	free    bool        // whether there is such an axis
	root    int
	text    string // anything else that must be the same
}

// String returns the description of a call in errors.
func (c call) String() string {
	s := c.kind
	if c.combine != "" {
		s += "(" + string(c.combine) + ")"
	}
	if c.dtype != dtype.None {
		s += fmt.Sprintf(" of %v%v", c.dtype, c.shape)
	}
	if c.root != 0 {
		s += fmt.Sprintf(" from rank %d", c.root)
	}
	if c.text != "" {
		s += " of " + c.text
	}
	return s
}

// digest returns a hash of the call.
func (c call) digest() uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	text := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	text(c.kind)
	text(string(c.combine))
	text(c.text)
	h = (h ^ uint64(c.dtype)) * prime
	h = (h ^ uint64(c.root)) * prime
	if c.shape.HasRank() {
		for i := range c.shape.Rank() {
			if d := c.shape.Dim(i); !c.free || i != c.axis {
				h = (h ^ uint64(d)) * prime
			}
			h = (h ^ 0xfe) * prime
		}
	}
	return h
}

// heads are what ranks tell each other before an operation: its number, its digest, and a number
// from each rank. If there are few ranks, small operands follow.
type heads struct {
	own      []byte
	all      []byte // the heads of all ranks, with room for operands
	numbers  []int
	requests wire.All
}

const (
	headBytes  = 24
	wordBytes  = 192     // of the text of a call, sent when calls differ
	smallBytes = 4 << 10 // maximum size of an operand that is sent with the head
	fewRanks   = 4       // maximum number of ranks that send their heads to each other directly
)

// small reports whether operands of a size are sent with the heads.
func (c *Comm) small(bytes int) bool { return c.Size() <= fewRanks && bytes <= smallBytes }

// room returns the distance between the heads of two ranks.
func (c *Comm) room() int {
	if c.Size() <= fewRanks {
		return headBytes + smallBytes
	}
	return headBytes
}

// meet waits until all ranks have reached an operation, and returns the number that each of them
// passes. The result of an earlier call is overwritten.
func (c *Comm) meet(ctx context.Context, what call, n int) ([]int, error) {
	return c.meetWith(ctx, what, n, nil)
}

// meetWith is meet with a small operand, which all ranks receive ([Comm.combineSmall]).
func (c *Comm) meetWith(ctx context.Context, what call, n int, operand []byte) ([]int, error) {
	if c.world.failed != nil {
		return nil, c.world.failed
	}
	c.calls++
	h, digest, room := &c.counts, what.digest(), c.room()
	if h.all == nil {
		h.own, h.all, h.numbers = make([]byte, headBytes, room), make([]byte, room*c.Size()), make([]int, c.Size())
	}
	if c.Size() == 1 {
		h.numbers[0] = n
		return h.numbers, ctx.Err()
	}
	binary.LittleEndian.PutUint64(h.own[0:], c.calls)
	binary.LittleEndian.PutUint64(h.own[8:], digest)
	binary.LittleEndian.PutUint64(h.own[16:], uint64(n))
	if err := c.wait(ctx, what, c.tell(append(h.own[:headBytes], operand...))); err != nil {
		return nil, err
	}
	same := true
	for r := range h.numbers {
		b := h.all[room*r:]
		same = same && binary.LittleEndian.Uint64(b) == c.calls && binary.LittleEndian.Uint64(b[8:]) == digest
		h.numbers[r] = int(binary.LittleEndian.Uint64(b[16:]))
	}
	if !same {
		return nil, c.disagree(ctx, what)
	}
	return h.numbers, nil
}

// tell starts sending the heads of all ranks to all ranks. If there are few ranks, they send them directly, which is
// faster than a nonblocking collective of MPI.
func (c *Comm) tell(own []byte) wire.Request {
	h, room := &c.counts, c.room()
	if c.Size() > fewRanks {
		return c.gather(h.all, nil, own)
	}
	copy(h.all[room*c.Rank():], own)
	h.requests = h.requests[:0]
	for r := range c.Size() {
		if r != c.Rank() {
			h.requests = append(h.requests, c.t.Receive(r, wire.OfMeeting, h.all[room*r:room*(r+1)]), c.t.Send(r, wire.OfMeeting, own))
		}
	}
	return &h.requests
}

// combineSmall returns the combination of the operands that came with the heads, in the order of
// the ranks.
func (c *Comm) combineSmall(own *tensor.Dense, combine *op.Op) *tensor.Dense {
	var sum tensor.Tensor
	for r := range c.Size() {
		x := own
		if r != c.Rank() {
			x = tensor.Uninit(own.DType(), own.Shape())
			copy(x.Bytes(), c.counts.all[c.room()*r+headBytes:])
		}
		if sum == nil {
			sum = x
		} else {
			sum = op.Eval(combine, sum, x)
		}
	}
	return sum.(*tensor.Dense)
}

// disagree returns the error of ranks that call different operations. All ranks call it.
func (c *Comm) disagree(ctx context.Context, what call) error {
	own, all := make([]byte, wordBytes), make([]byte, wordBytes*c.Size())
	copy(own, what.String())
	if err := c.wait(ctx, what, c.gather(all, nil, own)); err != nil {
		return err
	}
	word := func(r int) string {
		b := all[wordBytes*r : wordBytes*(r+1)]
		for i, x := range b {
			if x == 0 {
				return string(b[:i])
			}
		}
		return string(b)
	}
	words := make([]string, c.Size())
	for r := range words {
		words[r] = word(r)
	}
	e := tenon.NewError(tenon.ErrInvalid, "dist", c.apart(fmt.Sprintf("ranks disagree in operation %d", c.calls), "calls", words))
	e.Hint = "all ranks must call the same operations in the same order, with values of the same Specs"
	return c.world.fail(e)
}

// apart says what the first rank does, and which ranks do something else.
func (c *Comm) apart(msg, verb string, words []string) string {
	msg += fmt.Sprintf(": rank %d %s %s", c.ranks[0], verb, words[0])
	others := 0
	for r := 1; r < c.Size(); r++ {
		if words[r] == words[0] {
			continue
		}
		if others++; others > 4 {
			return msg + ", and so on"
		}
		msg += fmt.Sprintf(", rank %d %s", c.ranks[r], words[r])
	}
	return msg
}

// Agree returns an error on every rank if a text, such as a program, is not the same on all of them. The error
// shows the first line that differs; what says what the text is. The part of a line that follows a tab is
// shown, but not compared; it may say, for instance, where in the source an operation is.
func (c *Comm) Agree(ctx context.Context, what, text string) error {
	lines, h := strings.Split(text, "\n"), fnv.New64a()
	for _, l := range lines {
		l, _, _ = strings.Cut(l, "\t")
		h.Write([]byte(l + "\n"))
	}
	sums, err := c.meet(ctx, call{kind: what}, int(h.Sum64()))
	if err != nil || !slices.ContainsFunc(sums, func(x int) bool { return x != sums[0] }) {
		return err
	}
	first, err := BroadcastValue(ctx, c, tensor.Scalar(text), 0)
	if err != nil {
		return err
	}
	at := 0
	for of := strings.Split(tensor.Item[string](first), "\n"); at < max(len(lines), len(of)); at++ {
		x, _, _ := strings.Cut(lineOf(of, at), "\t")
		y, _, _ := strings.Cut(lineOf(lines, at), "\t")
		if x != y {
			break
		}
	}
	places, err := c.meet(ctx, call{kind: what}, at)
	if err != nil {
		return err
	}
	at = slices.Min(places[1:])
	all, err := GatherValues(ctx, c, tensor.Scalar(lineOf(lines, at)))
	if err != nil {
		return err
	}
	words, same := make([]string, len(all)), 0 // length of the common prefix
	for r, x := range all {
		words[r] = tensor.Item[string](x)
	}
	for !slices.ContainsFunc(words, func(w string) bool { return len(w) <= same || w[same] != words[0][same] }) {
		same++
	}
	for r, w := range words {
		words[r] = shown(w, same)
	}
	msg := "ranks disagree about " + what
	if len(lines) > 1 {
		msg += fmt.Sprintf(", in line %d", at+1)
	}
	e := tenon.NewError(tenon.ErrInvalid, "dist", c.apart(msg, "has", words))
	e.Hint = "start all ranks with the same program, options and data"
	return c.world.fail(e)
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing more"
}

// shown returns a line for an error: of a long line, the part around position at.
func shown(line string, at int) string {
	if at > wordBytes/2 {
		line = "…" + strings.ToValidUTF8(line[at-wordBytes/4:], "")
	}
	line = strings.Join(strings.Fields(line), " ")
	if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
		line = strconv.QuoteToASCII(line)
	}
	if len(line) > wordBytes {
		line = strings.ToValidUTF8(line[:wordBytes], "") + "…"
	}
	return line
}

// gather starts sending the bytes of all ranks to all ranks; sizes is nil if they are equal.
func (c *Comm) gather(dst []byte, sizes []int, src []byte) wire.Request {
	if n, ok := c.t.(wire.Collective); ok {
		if r := n.AllGather(dst, sizes, src); r != nil {
			return r
		}
	}
	all, at := make(wire.All, 0, 2*c.Size()), 0
	for r := range c.Size() {
		n := len(src)
		if sizes != nil {
			n = sizes[r]
		}
		if r == c.Rank() {
			copy(dst[at:at+n], src)
		} else {
			all = append(all, c.t.Send(r, wire.OfCollective, src), c.t.Receive(r, wire.OfCollective, dst[at:at+n]))
		}
		at += n
	}
	return all
}

// exchange starts sending a part of each rank's bytes to each other rank.
func (c *Comm) exchange(dst []byte, received []int, src []byte, sent []int) wire.Request {
	if n, ok := c.t.(wire.Collective); ok {
		if r := n.AllToAll(dst, received, src, sent); r != nil {
			return r
		}
	}
	all := make(wire.All, 0, 2*c.Size())
	from, to := 0, 0
	for r := range c.Size() {
		a, b := src[from:from+sent[r]], dst[to:to+received[r]]
		from, to = from+sent[r], to+received[r]
		if r == c.Rank() {
			copy(b, a)
			continue
		}
		all = append(all, c.t.Send(r, wire.OfCollective, a), c.t.Receive(r, wire.OfCollective, b))
	}
	return all
}

// spread starts sending the bytes of one rank to all others.
func (c *Comm) spread(b []byte, root int) wire.Request {
	if n, ok := c.t.(wire.Collective); ok {
		if r := n.Broadcast(b, root); r != nil {
			return r
		}
	}
	if c.Rank() != root {
		return c.t.Receive(root, wire.OfCollective, b)
	}
	var all wire.All
	for r := range c.Size() {
		if r != root {
			all = append(all, c.t.Send(r, wire.OfCollective, b))
		}
	}
	return all
}
