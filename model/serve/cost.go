package serve

import (
	"math"
	"sync"
	"time"
)

// cost estimates how long runs of a function take: it fits a line through the times of recent
// runs by their numbers of elements, with exponentially decreasing weights.
type cost struct {
	mu         sync.Mutex
	weight     float64
	x, y       float64 // means of elements and of seconds
	xx, xy, yy float64 // weighted sums of products of the deviations from the means
	last       time.Time
	runs       int
}

const (
	costKept  = 0.98        // factor of the weight of a run at the next one
	costRuns  = 16          // number of runs before a prediction is made
	costFresh = time.Second // how long a prediction is valid
)

// add records a run of a number of elements.
func (c *cost) add(elements int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, y := float64(elements), took.Seconds()
	c.runs, c.last = c.runs+1, time.Now()
	c.weight = costKept*c.weight + 1
	dx, dy := x-c.x, y-c.y
	c.x += dx / c.weight
	c.y += dy / c.weight
	c.xx = costKept*c.xx + dx*(x-c.x)
	c.xy = costKept*c.xy + dx*(y-c.y)
	c.yy = costKept*c.yy + dy*(y-c.y)
}

// least returns the minimum time that a run of a number of elements takes, as far as it is
// known.
func (c *cost) least(elements int) time.Duration {
	if f := c.predict(); f != nil {
		return f(elements)
	}
	return 0
}

// predict returns a function that predicts the minimum time of a run of a number of elements: two
// standard errors below the line, in its height and in its slope. It is nil if there are too few
// runs, or none recently.
func (c *cost) predict() func(elements int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs < costRuns || time.Since(c.last) > costFresh {
		return nil
	}
	const errs = 2
	slope, spread := 0.0, c.yy
	if c.xx > 0 {
		slope = c.xy / c.xx
		spread -= slope * c.xy
	}
	sigma := math.Sqrt(max(spread, 0) / c.weight)
	slack := 0.0
	if c.xx > 0 {
		slack = errs * sigma / math.Sqrt(c.xx)
	}
	x, y := c.x, c.y-errs*sigma
	return func(elements int) time.Duration {
		d := float64(elements) - x
		steep := slope - slack
		if d < 0 {
			steep = slope + slack
		}
		return time.Duration(max(y+max(steep, 0)*d, 0) * float64(time.Second))
	}
}
