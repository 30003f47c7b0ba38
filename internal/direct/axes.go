package direct

// most is the number up to which, from its negative on, single axes are kept ready.
const most = 8

// single has a list of one axis for each axis that calls are likely to name.
var single = func() (all [2*most + 1]any) {
	for i := range all {
		all[i] = []int{i - most}
	}
	return all
}()

// Axes returns a list of axes, []int, as an attribute of a call, of its own memory: that
// of the caller is free to change, and need not outlive the call that it is made for.
// Calls do not change their attributes, so those with one axis share it.
func Axes(axes []int) any {
	switch {
	case axes == nil:
		return []int(nil)
	case len(axes) == 1 && -most <= axes[0] && axes[0] <= most:
		return single[axes[0]+most]
	}
	return append(make([]int, 0, len(axes)), axes...)
}
