package dist

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist/internal/wire"
)

// Simulate runs f on a number of ranks, each of which is a goroutine of this process, and
// returns when all have ended. The error joins the different errors of all ranks.
func Simulate(ctx context.Context, ranks int, o Options, f func(ctx context.Context, c *Comm) error) error {
	if ranks < 1 {
		return tenon.NewError(tenon.ErrInvalid, "dist.Simulate", fmt.Sprintf("there are %d ranks, want at least 1", ranks))
	}
	post := &office{letters: map[address][][]byte{}, notices: make([][]posted, ranks)}
	members := make([]int, ranks)
	for r := range members {
		members[r] = r
	}
	errs := make([]error, ranks)
	var wg sync.WaitGroup
	for r := range ranks {
		wg.Go(func() { errs[r] = New(&simulated{office: post, members: members, rank: r}, o).Run(ctx, f) })
	}
	wg.Wait()
	var differ []error
	seen := map[string]bool{}
	for _, err := range errs {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			differ = append(differ, err)
		}
	}
	return errors.Join(differ...)
}

// Alone returns a group of one rank.
func Alone() *Comm {
	post := &office{letters: map[address][][]byte{}, notices: make([][]posted, 1)}
	return New(&simulated{office: post, members: []int{0}}, Options{})
}

// An office holds messages that were sent but not yet received.
type office struct {
	mu      sync.Mutex
	letters map[address][][]byte
	notices [][]posted
}

type address struct {
	group    string
	tag      wire.Tag
	from, to int
}

type posted struct {
	from int
	text []byte
}

// simulated is the transport of a goroutine.
type simulated struct {
	*office
	group   string
	members []int // ranks of the world
	rank    int   // in the group
	splits  int
}

func (s *simulated) Rank() int { return s.rank }
func (s *simulated) Size() int { return len(s.members) }

// ended is a request that has completed.
type ended struct{ err error }

func (e ended) Done() (bool, error) { return true, e.err }

func (s *simulated) Send(to int, tag wire.Tag, b []byte) wire.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := address{s.group, tag, s.rank, to}
	s.letters[a] = append(s.letters[a], append(make([]byte, 0, len(b)), b...))
	return ended{}
}

// received is a Receive under way.
type received struct {
	s    *simulated
	tag  wire.Tag
	from int
	to   []byte
}

func (s *simulated) Receive(from int, tag wire.Tag, b []byte) wire.Request {
	return &received{s, tag, from, b}
}

func (r *received) Done() (bool, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	a := address{s.group, r.tag, r.from, s.rank}
	queue := s.letters[a]
	if len(queue) == 0 {
		return false, nil
	}
	s.letters[a] = queue[1:]
	if n := len(queue[0]); n > len(r.to) || n < len(r.to) && r.tag != wire.OfMeeting {
		return true, fmt.Errorf("rank %d has sent %d bytes, want %d", s.members[r.from], len(queue[0]), len(r.to))
	}
	copy(r.to, queue[0])
	return true, nil
}

func (s *simulated) Post(to int, notice []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices[to] = append(s.notices[to], posted{s.rank, notice})
	return nil
}

func (s *simulated) Notice() (int, []byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.notices[s.rank]
	if len(list) == 0 {
		return 0, nil, false
	}
	s.notices[s.rank] = list[1:]
	return list[0].from, list[0].text, true
}

func (s *simulated) Split(number int, members []int) (wire.Transport, error) {
	s.splits++
	out := &simulated{office: s.office, group: fmt.Sprintf("%s/%d.%d", s.group, s.splits, number)}
	for i, m := range members {
		if m == s.rank {
			out.rank = i
		}
		out.members = append(out.members, s.members[m])
	}
	return out, nil
}

func (s *simulated) Close(bool) error { return nil }
