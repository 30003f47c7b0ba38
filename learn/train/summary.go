package train

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/nn"
)

// Summarize is [nn.Summarize] with what a trainer with these options would do: which parameters
// are frozen ([Fixed]), and which are shared (Options.Shared and [Shared]).
func Summarize[P any](params P, o Options) (out nn.Summary, err error) {
	defer tenon.Catch(&err)
	if out, err = nn.Summarize(params); err != nil {
		return nil, err
	}
	o.Shared = slices.Concat(o.Shared, Shared(params))
	flat, err := flatten(params, o)
	if err != nil {
		return nil, err
	}
	lines := map[string]*nn.Line{}
	for i := range out {
		if lines[out[i].Path] = &out[i]; out[i].Parameter {
			out[i].Frozen = true
		}
	}
	for _, places := range flat.trained {
		for k, place := range places {
			line := lines[flat.paths[place]]
			if line.Frozen = false; k > 0 {
				line.Shared = flat.paths[places[0]]
			}
		}
	}
	return out, nil
}
