package cpu

import (
	"os"
	"strings"
)

// Variable is the environment variable that lowers the level.
const Variable = "TENON_CPU"

// Level is a set of vector instructions. Levels are ordered: a machine that
// offers one offers all lower ones.
type Level uint8

// The levels, from the one every machine has to the most demanding.
const (
	Generic Level = iota // plain Go
	AVX2                 // 256-bit vectors and fused multiply-add
	AVX512               // 512-bit vectors and masks
)

// String returns the spelling that the environment variable uses.
func (l Level) String() string {
	switch l {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return "generic"
}

// parse is the inverse of String.
func parse(s string) (Level, bool) {
	for _, l := range [...]Level{Generic, AVX2, AVX512} {
		if strings.EqualFold(strings.TrimSpace(s), l.String()) {
			return l, true
		}
	}
	return Generic, false
}

var (
	offered = detect()
	active  = choose(offered, os.Getenv(Variable))
)

// choose returns the level asked for, or the offered one where that is lower or
// where nothing known was asked for.
func choose(offered Level, asked string) Level {
	if l, ok := parse(asked); ok {
		return min(l, offered)
	}
	return offered
}

// Active returns the level that kernels run at in this process.
func Active() Level { return active }

// Offered returns the highest level the machine can run, whatever the
// environment variable says. Tests use it to call every family of kernels that
// can run here; everything else uses [Active].
func Offered() Level { return offered }
