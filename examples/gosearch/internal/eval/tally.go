package eval

import "math"

// A Tally collects ranks. The zero Tally is empty.
type Tally struct{ ranks []rank }

// rank is how many candidates score above the right one, and how many score as
// high, itself among them.
type rank struct{ above, tied int }

// Add counts one question: scores holds every candidate's, target is the
// position of the right one. A score that is not a number ranks last.
func (t *Tally) Add(scores []float32, target int) {
	want := scores[target]
	r := rank{tied: 1}
	for i, s := range scores {
		switch {
		case i == target:
		case s > want, want != want && s == s:
			r.above++
		case s == want, want != want && s != s:
			r.tied++
		}
	}
	t.ranks = append(t.ranks, r)
}

// AddAny counts a question that several candidates answer: the best of them counts, the others are
// left out. Scores are changed.
func (t *Tally) AddAny(scores []float32, targets []int) {
	best := targets[0]
	for _, i := range targets[1:] {
		if s := scores[i]; s > scores[best] || scores[best] != scores[best] {
			best = i
		}
	}
	for _, i := range targets {
		if i != best {
			scores[i] = float32(math.NaN())
		}
	}
	t.Add(scores, best)
}

// Numbers are those of all questions, two each: how many candidates score above the right one, and how many as high as it.
func (t *Tally) Numbers() []int64 {
	out := make([]int64, 0, 2*len(t.ranks))
	for _, r := range t.ranks {
		out = append(out, int64(r.above), int64(r.tied))
	}
	return out
}

// TallyOf returns the tally that has some numbers.
func TallyOf(numbers []int64) *Tally {
	t := &Tally{}
	for i := 0; i < len(numbers); i += 2 {
		t.ranks = append(t.ranks, rank{int(numbers[i]), int(numbers[i+1])})
	}
	return t
}

// Question returns the tally of one question.
func (t *Tally) Question(i int) *Tally { return &Tally{t.ranks[i : i+1]} }

// Merge adds another tally's questions after t's.
func (t *Tally) Merge(u *Tally) { t.ranks = append(t.ranks, u.ranks...) }

// Len is the number of questions counted.
func (t *Tally) Len() int { return len(t.ranks) }

// MRR is the mean reciprocal rank, 0 without questions.
func (t *Tally) MRR() float64 {
	return t.mean(func(r rank) float64 {
		sum := 0.0
		for k := r.above + 1; k <= r.above+r.tied; k++ {
			sum += 1 / float64(k)
		}
		return sum / float64(r.tied)
	})
}

// Recall is the share of questions whose answer is among the first k, 0
// without questions.
func (t *Tally) Recall(k int) float64 {
	return t.mean(func(r rank) float64 {
		return float64(min(max(k-r.above, 0), r.tied)) / float64(r.tied)
	})
}

func (t *Tally) mean(f func(rank) float64) float64 {
	if len(t.ranks) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range t.ranks {
		sum += f(r)
	}
	return sum / float64(len(t.ranks))
}
