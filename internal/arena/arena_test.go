package arena

import (
	"math"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func TestClassOf(t *testing.T) {
	last := 0
	for _, c := range []struct{ n, class, size int }{
		{0, 0, 256}, {1, 0, 256}, {256, 0, 256},
		{257, 1, 320}, {320, 1, 320}, {321, 2, 384}, {384, 2, 384}, {448, 3, 448}, {449, 4, 512}, {512, 4, 512},
		{513, 5, 640}, {1 << 20, 48, 1 << 20}, {1<<20 + 1, 49, 5 << 18},
	} {
		class, size := classOf(c.n)
		if class != c.class || size != c.size {
			t.Errorf("classOf(%d) = %d, %d, want %d, %d", c.n, class, size, c.class, c.size)
		}
	}
	for n := 1; n < 1<<16; n++ {
		class, size := classOf(n)
		if size < n || n > 256 && size > n+n/4 || class < last || class > last+1 {
			t.Fatalf("classOf(%d) = %d, %d after class %d", n, class, size, last)
		}
		last = class
	}
	if class, _ := classOf(math.MaxInt); class >= classes {
		t.Errorf("class %d of the largest int is outside the table", class)
	}
}

func TestAllocAlignsAndHasSlack(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 255, 256, 257, 4096, 100_000, 1 << 20} {
		b := Alloc(n)
		x := b.Bytes()
		if len(x) != n || cap(x) < n+Slack || b.Len() != n {
			t.Errorf("Alloc(%d): length %d, capacity %d", n, len(x), cap(x))
		}
		if p := uintptr(unsafe.Pointer(unsafe.SliceData(x))); p%64 != 0 {
			t.Errorf("Alloc(%d) starts at %#x", n, p)
		}
		for i := range x[:n+Slack] {
			x[:n+Slack][i] = byte(i)
		}
		b.Release()
	}
}

func TestView(t *testing.T) {
	b := Alloc(40)
	defer b.Release()
	x := View[float64](b, 5)
	x[4] = 2.5
	if got := View[float64](b, 5)[4]; got != 2.5 || len(x) != 5 || cap(x) < 5+Slack/8 {
		t.Errorf("element %v, length %d, capacity %d", got, len(x), cap(x))
	}
	if got := panicText(func() { View[float64](b, 6) }); !strings.Contains(got, "6 elements of 8 bytes in a buffer of 40") {
		t.Errorf("too long a view: %q", got)
	}
}

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 100, 3 << 20} { // the last is advised to use large pages
		x := Make[float32](n)
		if len(x) != n || cap(x) < n+Slack/4 {
			t.Errorf("Make(%d): length %d, capacity %d", n, len(x), cap(x))
		}
		if p := uintptr(unsafe.Pointer(unsafe.SliceData(x))); p%64 != 0 {
			t.Errorf("Make(%d) starts at %#x", n, p)
		}
		for i, v := range x {
			if v != 0 {
				t.Fatalf("Make(%d): element %d is %v", n, i, v)
			}
		}
	}
	if got := panicText(func() { Make[int64](-1) }); !strings.Contains(got, "-1 elements") {
		t.Errorf("a negative length: %q", got)
	}
}

func TestReleasedBufferPanics(t *testing.T) {
	defer SetDebug(SetDebug(true)) // keeps the buffer out of the pool
	b := Alloc(10)
	b.Release()
	for name, f := range map[string]func(){
		"Release": b.Release,
		"Bytes":   func() { b.Bytes() },
		"View":    func() { View[int8](b, 1) },
	} {
		got := panicText(f)
		if !strings.Contains(got, name+" of a buffer of 10 bytes that was released") || !strings.Contains(got, "TestReleasedBufferPanics") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDebugFindsUseAfterRelease(t *testing.T) {
	defer SetDebug(SetDebug(true))
	b := Alloc(64)
	x := View[float32](b, 16)
	x[3] = 1
	if Live() != 1 {
		t.Errorf("%d buffers live, want 1", Live())
	}
	b.Release()
	if !math.IsNaN(float64(x[3])) {
		t.Errorf("reading after release gave %v, want NaN", x[3])
	}
	if err := Check(); err != nil {
		t.Errorf("nothing was written, but: %v", err)
	}
	x[3] = 1
	err := Check()
	if err == nil || !strings.Contains(err.Error(), "byte 12 of a buffer of 64 bytes") || !strings.Contains(err.Error(), "TestDebugFindsUseAfterRelease") {
		t.Errorf("a write after release was reported as %v", err)
	}
	if Live() != 0 {
		t.Errorf("%d buffers live, want 0", Live())
	}
}

func TestQuarantineChecksWhatLeavesIt(t *testing.T) {
	defer SetDebug(SetDebug(true))
	b := Alloc(1000)
	x := b.Bytes()
	b.Release()
	x[0] = 1
	got := panicText(func() { Alloc(quarantineBytes).Release() })
	if !strings.Contains(got, "byte 0 of a buffer of 1000 bytes") {
		t.Errorf("overwritten buffer left the quarantine: %q", got)
	}
}

func TestManyGoroutinesNeverShareABuffer(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				b := Alloc(300 + i)
				x := View[int32](b, 75)
				for j := range x {
					x[j] = int32(g)
				}
				for j := range x {
					if x[j] != int32(g) {
						t.Errorf("goroutine %d found %d", g, x[j])
						return
					}
				}
				b.Release()
			}
		})
	}
	wg.Wait()
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	defer SetDebug(SetDebug(false))
	if raceEnabled {
		t.Skip("under the race detector sync.Pool drops buffers on purpose")
	}
	Alloc(1 << 20).Release()
	if n := testing.AllocsPerRun(100, func() { Alloc(1 << 20).Release() }); n > 0 {
		t.Errorf("%v allocations for each loan", n)
	}
}

func panicText(f func()) (text string) {
	defer func() {
		switch v := recover().(type) {
		case string:
			text = v
		case error:
			text = v.Error()
		}
	}()
	f()
	return ""
}

func BenchmarkAlloc(b *testing.B) {
	for b.Loop() {
		Alloc(1 << 20).Release()
	}
}
