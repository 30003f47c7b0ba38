package vec

import "iter"

// together emits bodies that do not depend on each other, one after the other or so
// that their instructions alternate. Executed in order of readiness either way,
// alternating they take fewer entries of the processor's scheduler while they wait
// for their own results, which is what limits long formulas.
func (m Machine) together(bodies []func(m Machine), alternate bool) {
	if len(bodies) == 1 || !alternate {
		for _, body := range bodies {
			body(m)
		}
		return
	}
	var turns []func() (struct{}, bool)
	for _, body := range bodies {
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			own := m
			own.pause = func() { yield(struct{}{}) }
			body(own)
		})
		defer stop()
		turns = append(turns, next)
	}
	for busy := true; busy; {
		busy = false
		for _, turn := range turns {
			if _, more := turn(); more {
				busy = true
			}
		}
	}
}

// Alternate emits bodies that do not depend on each other so that their instructions
// alternate.
func (m Machine) Alternate(bodies ...func(m Machine)) { m.together(bodies, true) }

// Pause lets the other bodies of [Machine.Alternate] emit an instruction, after some that
// the machine knows nothing of.
func (m Machine) Pause() { m.emitted() }

// emitted lets the other bodies emit an instruction.
func (m Machine) emitted() {
	if m.pause != nil {
		m.pause()
	}
}
