package inputs

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed lognormal.txt
var lognormal string

// Lengths returns n lengths of 1 to 2048 from stream k of workload w, about log-normal with the
// median 180: an interpolation, in integers, of 257 quantiles.
func Lengths(w, k, n int) []int64 {
	var q []uint64
	for _, f := range strings.Fields(lognormal) {
		x, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return nil
		}
		q = append(q, x)
	}
	s := NewStream(w, k)
	out := make([]int64, n)
	for i := range out {
		u := s.Next()
		j, f := u>>56, u>>40&0xffff
		out[i] = min(2048, max(1, int64((q[j]*(65536-f)+q[j+1]*f)>>22)))
	}
	return out
}
