package protoio

import (
	"slices"

	"github.com/tenonml/tenon/internal/kernel/wire"
)

// mostNoted is the maximum number of features in rows that a kernel reads.
const mostNoted = 64

// note lets a kernel read rows, starting with the next one, until it has read budget bytes, or
// reaches a row of an unusual form: with keys in a different order or unknown, lists that are not
// packed or exceed 16 KiB, or fields that Features lacks. It returns the number of rows and bytes
// read.
func (s *scanner) note(budget int) (n, size int) {
	if !s.noting || len(s.table) == 0 {
		return 0, 0
	}
	n, size = wire.Note(s.messages, s.table, s.row, budget)
	if n > 0 {
		for _, k := range s.order {
			if k.source != ignored {
				s.bufs[k.source].pending = true
			}
		}
		s.row += n
		return n, size
	}
	for k := range s.plan.kinds {
		s.bufs[k].lens[s.row] = absent
	}
	s.left++
	s.noting = s.left <= 8+s.row/8
	return 0, 0
}

// learn adds the keys of the row read last to the order, each after the one that it followed, so
// that features missing in some rows find their places over time. A row that contradicts the order
// starts a new one.
func (s *scanner) learn() {
	var row []*known
	for k := s.first.next; k != nil && k != &s.other && !slices.Contains(row, k); k = k.next {
		if row = append(row, k); len(row) > mostNoted {
			s.noting = false
			return
		}
	}
	order, grown := mergeKeys(s.order, row)
	if !grown {
		return
	}
	s.order, s.table = order, s.table[:0]
	for _, k := range order {
		e, ok := k.entry(s.plan)
		if !ok || len(s.table) == mostNoted {
			s.order, s.table, s.noting = s.order[:0], s.table[:0], false
			return
		}
		s.table = append(s.table, e)
	}
	s.point()
}

// mergeKeys returns an order with the keys of a row merged in, or the row alone if it contradicts
// the order, and reports whether the order has changed.
func mergeKeys(order, row []*known) ([]*known, bool) {
	at, before := 0, len(order)
	for _, k := range row {
		i := slices.Index(order, k)
		switch {
		case i < 0:
			order, i = slices.Insert(order, at, k), at
		case i < at:
			return row, true
		}
		at = i + 1
	}
	return order, len(order) > before
}

// entry returns the usual form of an entry with the key.
func (k *known) entry(p *plan) (wire.Entry, bool) {
	if k.source == ignored {
		return wire.NewEntry(k.key, 0, false)
	}
	list := p.kinds[k.source]
	return wire.NewEntry(k.key, list.tag(), list != bytesList)
}

// point makes the kernel note the lists of the table in the buffers.
func (s *scanner) point() {
	for i, k := range s.order {
		if k.source != ignored && len(s.bufs[k.source].lens) > 0 {
			s.table[i].To(s.bufs[k.source].lens)
		}
	}
}
