package train

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// PlateauOptions are the options of [NewPlateau]. The zero value is the default.
type PlateauOptions struct {
	Factor    float64 // of the rate when scores do not improve; 0 stands for 0.1
	Patience  int     // number of scores in a row without improvement that are tolerated
	Cooldown  int     // number of scores after a change that are ignored
	Threshold float64 // relative improvement that counts; 0 stands for 1e-4
	Minimum   float64 // of the rate
	Greater   bool    // greater scores are better
}

// A Plateau is a learning rate that is reduced when scores no longer improve. [Fit] sets
// FitOptions.Plateau to its initial rate and passes the scores of validations to it, when it resumes those
// so far; a loop of your own calls Observe. It is not safe for concurrent use.
type Plateau struct {
	PlateauOptions
	first, rate    float64
	at             *state.Variable
	best           float64
	seen           bool
	worse, resting int
}

// NewPlateau returns a plateau with an initial rate.
func NewPlateau(rate float64, o ...PlateauOptions) (*Plateau, error) {
	v, err := state.New(tensor.Scalar(rate))
	if err != nil {
		return nil, err
	}
	p := &Plateau{PlateauOptions: option(o), first: rate, rate: rate, at: v}
	p.Factor, p.Threshold = orDefault(p.Factor, 0.1), orDefault(p.Threshold, 1e-4)
	return p, nil
}

// Rate returns the rate of the next step.
func (p *Plateau) Rate() float64 { return p.rate }

// Schedule returns the rate as a schedule, which a traced step reads each time.
func (p *Plateau) Schedule() Schedule {
	return func(step tensor.Tensor) tensor.Tensor { return ops.Cast(p.at, step.DType()) }
}

// Observe takes a score and returns the rate from now on. A NaN counts as no improvement.
func (p *Plateau) Observe(score float64) (float64, error) {
	if p.better(score) {
		p.best, p.seen, p.worse = score, true, 0
	} else {
		p.worse++
	}
	if p.resting > 0 {
		p.resting--
		p.worse = 0
	}
	if p.worse <= p.Patience {
		return p.rate, nil
	}
	p.worse, p.resting = 0, p.Cooldown
	p.rate = math.Max(p.rate*p.Factor, p.Minimum)
	return p.rate, p.at.Assign(tensor.Scalar(p.rate))
}

// restart forgets all scores.
func (p *Plateau) restart() error {
	if p.at == nil {
		return tenon.NewError(tenon.ErrInvalid, "train.Plateau", "it has no rate: make it with NewPlateau")
	}
	*p = Plateau{PlateauOptions: p.PlateauOptions, first: p.first, rate: p.first, at: p.at}
	return p.at.Assign(tensor.Scalar(p.rate))
}

func (p *Plateau) better(score float64) bool {
	switch {
	case math.IsNaN(score):
		return false
	case !p.seen:
		return true
	case p.Greater:
		return score > p.best*(1+p.Threshold)
	}
	return score < p.best*(1-p.Threshold)
}
