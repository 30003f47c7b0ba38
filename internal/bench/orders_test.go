package main

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

func TestOrders(t *testing.T) {
	for size, n := range map[string]int{"tiny": 260, "small": 2600} {
		sum := sha256.Sum256(appendOrders(nil, n))
		if got := hex.EncodeToString(sum[:]); got != orderHashes[size] {
			t.Errorf("%s: got %s, want %s", size, got, orderHashes[size])
		}
	}
}
