package protoio

import (
	"fmt"

	"github.com/tenonml/tenon"
)

// InferFeatures examines messages and returns a [Ragged] feature for each list that any of them
// has, whatever its length: the Features to read everything. If a list has elements of different
// types in two messages, InferFeatures returns an error that names both.
func InferFeatures(messages [][]byte) (Features, error) {
	seen := map[string]kind{}
	var s scanner
	for i, b := range messages {
		err := part(b, 0, len(b), tagFirst, func(i, end int) error {
			return part(b, i, end, tagFirst, func(i, end int) error { return s.inferEntry(seen, b, i, end) })
		})
		if err != nil {
			return nil, wrong(i, err)
		}
	}
	fs := make(Features, len(seen))
	for key, k := range seen {
		fs[key] = Ragged{DType: k.dtype()}
	}
	return fs, nil
}

func (s *scanner) inferEntry(seen map[string]kind, b []byte, i, end int) error {
	key, from, to, err := s.entry(b, i, end)
	if err != nil {
		return err
	}
	joined := from < 0
	if joined {
		b, from, to = s.join, 0, len(s.join)
	}
	f := buffer{ends: []int64{0}} // accepts no list, so that values are skipped
	k, err := f.feature(b, from, to)
	if err != nil || k == noList {
		return placed(err, joined)
	}
	if old, ok := seen[string(key)]; ok {
		if old != k {
			return &featureError{string(key), tenon.ErrInvalid, fmt.Sprintf("is a list of %v, and of %v in an earlier example", k.dtype(), old.dtype())}
		}
		return nil
	}
	seen[string(key)] = k
	return nil
}
