package dimcheck

import "slices"

// The rules for packages with which models are built, trained and stored. Their contents, such as
// the parameters and the loss of a trainer, are groups with fields whose names no Go field can
// have.
const (
	paramsField = "$params"
	lossField   = "$loss"
	elemField   = "$element"
	inField     = "$in"
	outField    = "$out"
)

func modelRules() map[string]rule {
	keep := func(r *ruleCall) *val { return orAnything(r.arg(0)) }
	rules := map[string]rule{
		fieldKey:                  fieldRule,
		"train.Fit":               fitRule,
		"train.NewTrainer":        trainerRule,
		"train.Trainer.Step":      stepRule,
		"saved.Read":              func(r *ruleCall) *val { return tuple([]*val{orAnything(r.arg(1)), anything}) },
		"saved.Fill":              func(r *ruleCall) *val { return tuple([]*val{orAnything(r.arg(1)), anything}) },
		"nest.Pack":               func(r *ruleCall) *val { return tuple([]*val{orAnything(r.arg(0)), anything}) },
		"dataset.FromSlice":       func(r *ruleCall) *val { return elements(elem(r.arg(0), "*")) },
		"dataset.FromRows":        func(r *ruleCall) *val { return elements(rowsOf(r.arg(0))) },
		"dataset.Map":             datasetMapRule,
		"dataset.Dataset.Map":     datasetMapRule,
		"dataset.Dataset.Batch":   func(r *ruleCall) *val { return elements(stacked(elementOf(r.arg(0)), nil)) },
		"dataset.Dataset.At":      func(r *ruleCall) *val { return tuple([]*val{elementOf(r.arg(0)), anything}) },
		"dataset.Dataset.All":     allRule,
		"dataset.Dataset.Cache":   func(r *ruleCall) *val { return tuple([]*val{orAnything(r.arg(0)), anything}) },
		"dataset.Dataset.Collect": func(r *ruleCall) *val { return tuple([]*val{every(elementOf(r.arg(0))), anything}) },
		"nn.SoftmaxCrossEntropy":  classesRule,
	}
	for _, m := range []string{"Prefetch", "Shuffle", "ShuffleWindow", "Take", "Skip", "Repeat", "Filter", "PrefetchWith", "ShuffleBlocks", "SkipErrors", "TakeWhile", "Unique"} {
		rules["dataset.Dataset."+m] = keep
	}
	for _, fn := range []string{"SquaredError", "Huber", "BinaryCrossEntropy"} {
		rules["nn."+fn] = func(r *ruleCall) *val { return r.elementwise(0, 1) }
	}
	for layer, at := range map[string]int{"Dense": 3, "LayerNorm": 1, "RMSNorm": 1, "Embedding": 3, "MLP": 2} {
		rules["nn.New"+layer] = func(r *ruleCall) *val { return layerOf(option(r.arg(at))) }
	}
	rules["nn.Dense.Apply"] = func(r *ruleCall) *val { return r.layer(true) }
	rules["nn.MLP.Apply"] = rules["nn.Dense.Apply"]
	rules["nn.LayerNorm.Apply"] = func(r *ruleCall) *val { return r.layer(false) }
	rules["nn.RMSNorm.Apply"] = rules["nn.LayerNorm.Apply"]
	rules["nn.Embedding.Apply"] = embeddingRule
	rules["nn.Activation.Apply"] = func(r *ruleCall) *val { return r.same(r.tensor(1)) }
	rules["nn.Dropout.Apply"] = func(r *ruleCall) *val { return r.same(r.tensor(2)) }
	return rules
}

func orAnything(v *val) *val {
	if v == nil {
		return anything
	}
	return v
}

// fitRule calls the loss as training does.
func fitRule(r *ruleCall) *val {
	params, o := orAnything(r.arg(1)), r.arg(3)
	batch := anything
	if o != nil && o.Kind == groupKind {
		if data := o.Fields["Data"]; data != nil && data.Kind == groupKind {
			if got := r.c.apply(r.f, r.at, data.Fields["At"], []*val{anything, anything}); got != nil && got.Kind == groupKind {
				batch = orAnything(got.Fields["0"])
			}
		}
		if v := o.Fields["Validate"]; v != nil {
			r.c.apply(r.f, r.at, v, []*val{anything, params})
		}
	}
	r.c.apply(r.f, r.at, r.arg(2), []*val{params, batch, anything})
	return tuple([]*val{{Kind: groupKind, Fields: map[string]*val{"Params": params, "Average": params}}, anything})
}

func trainerRule(r *ruleCall) *val {
	t := &val{Kind: groupKind, Fields: map[string]*val{paramsField: orAnything(r.arg(0)), lossField: orAnything(r.arg(1))}}
	return tuple([]*val{t, anything})
}

func stepRule(r *ruleCall) *val {
	if t := r.arg(0); t != nil && t.Kind == groupKind {
		r.c.apply(r.f, r.at, t.Fields[lossField], []*val{orAnything(t.Fields[paramsField]), orAnything(r.arg(2)), anything})
	}
	return tuple([]*val{anything, anything})
}

// elements returns a data set with the given elements.
func elements(x *val) *val {
	return &val{Kind: groupKind, Fields: map[string]*val{elemField: orAnything(x)}}
}

func elementOf(d *val) *val {
	if d == nil || d.Kind != groupKind {
		return anything
	}
	return orAnything(d.Fields[elemField])
}

func every(x *val) *val { return &val{Kind: groupKind, Fields: map[string]*val{"*": x}} }

func datasetMapRule(r *ruleCall) *val {
	out := r.c.apply(r.f, r.at, r.arg(1), []*val{elementOf(r.arg(0))})
	if out == nil {
		return unreached
	}
	if out.Kind != groupKind {
		return elements(anything)
	}
	return elements(out.Fields["0"])
}

// allRule returns the function that a loop over a data set calls with its body.
func allRule(r *ruleCall) *val {
	return &val{Kind: funcKind, Func: &function{Binds: []*val{elementOf(r.arg(0))}, Gives: itsElements}}
}

// option returns options that may be omitted: the first element of a list.
func option(v *val) *val {
	if v != nil && v.Kind == groupKind {
		if first, ok := v.Fields["0"]; ok {
			return first
		}
	}
	return v
}

// layerOf returns a layer of package nn whose options have names.
func layerOf(o *val) *val {
	out := &val{Kind: groupKind, Fields: map[string]*val{}}
	if o == nil || o.Kind != groupKind {
		return anything
	}
	n := o.Fields["Names"]
	if n == nil || n.Kind != groupKind {
		return anything
	}
	for field, key := range map[string]string{"In": inField, "Out": outField} {
		if v := n.Fields[field]; v != nil {
			out.Fields[key] = v
		}
	}
	return out
}

// layerNames returns the names in a layer, and false if they are not known.
func layerNames(l *val, key string) ([]name, bool) {
	if l == nil || l.Kind != groupKind {
		return nil, false
	}
	v, ok := l.Fields[key]
	if !ok || v.Kind == nilKind {
		return nil, false
	}
	return v.names()
}

// layer is the rule for layers from the features In to Out or, if they keep their features, to In.
func (r *ruleCall) layer(changes bool) *val {
	in, ok := layerNames(r.arg(0), inField)
	x := r.tensor(1)
	if !ok || len(in) == 0 {
		return anything
	}
	r.dims, r.first = in, -1
	r.needs(in, x, 1)
	out := in
	if to, ok := layerNames(r.arg(0), outField); ok && changes {
		out = to
	}
	return r.result(append(without(x.Dims, in), namesVal(out).Dims...), x)
}

func embeddingRule(r *ruleCall) *val {
	out, ok := layerNames(r.arg(0), outField)
	x := r.tensor(1)
	if !ok {
		return anything
	}
	return r.result(append(slices.Clone(x.Dims), namesVal(out).Dims...), x)
}

// classesRule is the rule for the loss of package nn whose options say which dimension has the
// classes.
func classesRule(r *ruleCall) *val {
	o := option(r.arg(2))
	if o == nil || o.Kind != groupKind {
		return anything
	}
	classes, ok := orAnything(o.Fields["Classes"]).names()
	if !ok || len(classes) != 1 {
		return anything
	}
	r.dims = classes
	return crossEntropyRule(r)
}
