package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{"learn.optimizer": optimize, "learn.schedule": schedule})
}

// optimizer returns the one that a case names.
func optimizer(c *cases.Case) train.Optimizer {
	rate, f := c.AttrFloat("learning_rate", 0), func(name string) float64 { return c.AttrFloat(name, 0) }
	b1, b2 := 0.0, 0.0
	if c.Has("beta1_beta2") {
		b := cases.List[any](c.Attrs["beta1_beta2"])
		b1, b2 = cases.Float(b[0]), cases.Float(b[1])
	}
	adam := train.AdamOptions{Beta1: b1, Beta2: b2, Epsilon: f("epsilon"), WeightDecay: f("weight_decay"), AMSGrad: c.AttrBool("amsgrad", false)}
	moments := train.MomentOptions{Beta1: b1, Beta2: b2, Epsilon: f("epsilon"), WeightDecay: f("weight_decay")}
	switch name := c.AttrStr("name", ""); name {
	case "sgd":
		return train.SGD(rate, train.SGDOptions{Momentum: f("momentum"), Dampening: f("dampening"), Nesterov: c.AttrBool("nesterov", false), WeightDecay: f("weight_decay")})
	case "adam":
		return train.Adam(rate, adam)
	case "adamw":
		return train.AdamW(rate, adam)
	case "adagrad":
		return train.Adagrad(rate, train.AdagradOptions{Initial: f("initial"), Epsilon: f("epsilon"), Decay: f("decay"), WeightDecay: f("weight_decay")})
	case "rmsprop":
		return train.RMSProp(rate, train.RMSPropOptions{Alpha: f("alpha"), Epsilon: f("epsilon"), Momentum: f("momentum"), Centered: c.AttrBool("centered", false), WeightDecay: f("weight_decay")})
	case "adadelta":
		return train.Adadelta(rate, train.AdadeltaOptions{Rho: f("rho"), Epsilon: f("epsilon")})
	case "adamax":
		return train.Adamax(rate, moments)
	case "nadam":
		return train.NAdam(rate, moments)
	case "radam":
		return train.RAdam(rate, moments)
	case "lamb":
		return train.LAMB(rate, moments)
	case "lion":
		return train.Lion(rate, train.LionOptions{Beta1: b1, Beta2: b2, WeightDecay: f("weight_decay")})
	case "adafactor":
		return train.Adafactor(rate, train.AdafactorOptions{
			MinSize: c.AttrInt("min_size", 0), DecayRate: f("decay_rate"), Clip: f("clip"), Epsilon: f("epsilon"), Absolute: !c.AttrBool("multiply_by_parameter_scale", true),
		})
	default:
		tenon.Throw(fmt.Errorf("optimizer %q: %w", name, cases.ErrUnknown))
		return nil
	}
}

// optimize returns the parameters after some of the updates.
func optimize(c *cases.Case) (any, error) {
	o := optimizer(c)
	params := append([]tensor.Tensor(nil), c.Tensors(0)...)
	slots := make([][]tensor.Tensor, len(params))
	for i, p := range params {
		slots[i] = o.Slots(p)
	}
	var out []tensor.Tensor
	for step, list := range cases.List[any](c.Arg(1)) {
		grads := cases.List[tensor.Tensor](list)
		if limit := c.AttrFloat("clip_norm", 0); limit != 0 {
			grads = train.ClipByGlobalNorm(grads, limit)
		}
		for i := range params {
			params[i], slots[i] = train.Update(o, params[i], grads[i], slots[i], tensor.Scalar(int64(step)))
		}
		switch step {
		case 0, 1, 4, 9:
			out = append(out, params...)
		}
	}
	return out, nil
}

// schedule returns the rates of the first steps.
func schedule(c *cases.Case) (any, error) {
	f, n := func(name string) float64 { return c.AttrFloat(name, 0) }, c.AttrInt
	rate, steps := f("rate"), n("decay_steps", 0)
	var s train.Schedule
	switch name := c.AttrStr("name", ""); name {
	case "constant":
		s = train.Constant(rate)
	case "linear_warmup":
		s = train.Warmup(n("warmup", 0), train.Constant(rate))
	case "cosine":
		s = train.CosineTo(rate, f("minimum"), steps)
	case "warmup_cosine":
		w := n("warmup", 0)
		s = train.Then(train.Linear(f("start"), rate, w), w, train.CosineTo(rate, f("minimum"), steps-w))
	case "cosine_restarts":
		s = train.Restarts(rate, f("minimum"), n("period", 1), n("factor", 1))
	case "one_cycle":
		s = train.OneCycle(f("peak"), n("total_steps", 0), train.OneCycleOptions{Share: f("warmup_share"), Div: f("div"), FinalDiv: f("final_div"), Linear: c.AttrStr("anneal", "") == "linear"})
	case "exponential":
		s = train.Decay(rate, f("factor"), 1)
	case "step":
		s = train.Staircase(rate, f("factor"), n("every", 1))
	case "steps":
		s = train.Steps(rate, f("factor"), c.AttrInts("at")...)
	case "polynomial":
		s = train.Polynomial(rate, f("end"), steps, f("power"))
	case "linear":
		s = train.Linear(rate, f("end"), steps)
	case "plateau":
		return plateau(c)
	default:
		return nil, fmt.Errorf("schedule %q: %w", name, cases.ErrUnknown)
	}
	out := make([]any, n("steps", 0))
	for i := range out {
		out[i] = ops.Cast(s(tensor.Scalar(float64(i))), dtype.Float64)
	}
	return ops.Stack(out, 0), nil
}

func plateau(c *cases.Case) (any, error) {
	p, err := train.NewPlateau(c.AttrFloat("rate", 0), train.PlateauOptions{
		Factor: c.AttrFloat("factor", 0), Patience: c.AttrInt("patience", 0), Cooldown: c.AttrInt("cooldown", 0),
		Threshold: c.AttrFloat("threshold", 0), Minimum: c.AttrFloat("minimum", 0), Greater: c.AttrStr("mode", "") == "max",
	})
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, x := range cases.List[any](c.Attrs["scores"]) {
		out = append(out, p.Rate())
		if _, err := p.Observe(cases.Float(x)); err != nil {
			return nil, err
		}
	}
	return tensor.Of(out), nil
}
