package jsoncol

// addMissing adds a row for a value that is absent or null, and reports whether
// the node's policy allows it.
func (n *node) addMissing() bool {
	switch n.policy {
	case MissingMasked:
		n.addMasked()
	case MissingDefault:
		n.addDefault()
	case MissingEmpty:
		switch n.op {
		case opList, opMap:
			n.pushEnd(n.elem.n)
		case opInfer:
			n.n++ // the node may still turn out to be a list
		default:
			return false
		}
	default:
		return false
	}
	return true
}

// missing adds a row for a missing value; what describes in which way it is missing. If the policy
// does not allow it, the failure is at i.
func (p *parser) missing(i int, n *node, what string) bool {
	if n.addMissing() {
		return true
	}
	p.failf(i, MissingValue, "%s where %s is needed (another policy for missing values, or an optional field in the schema, would accept it)", what, n.describe())
	return false
}

// addMasked adds a placeholder that is marked missing, as is everything below it down to the next
// list.
func (n *node) addMasked() {
	if n.op != opInfer {
		n.invalid()
	}
	switch n.op {
	case opInfer:
		n.n++
	case opBool:
		n.pushBool(false)
	case opInt, opUint:
		n.pushInt(0)
	case opFloat, opNarrow:
		n.pushFloat(0)
	case opString, opText:
		n.pushEnd(n.nb)
	case opList, opMap:
		n.pushEnd(n.elem.n)
	case opUnion:
		n.pushAlt(-1, 0)
	case opStruct:
		for i := range n.fields {
			n.fields[i].node.addMasked()
		}
		n.n++
	}
}

// addDefault adds the schema's default value or, without one, the zero of the type.
func (n *node) addDefault() {
	def := n.schema.Default
	switch n.op {
	case opInfer:
		n.n++
	case opBool:
		v, _ := def.(bool)
		n.pushBool(v)
	case opInt, opUint:
		v, _ := def.(int64)
		n.pushInt(v)
	case opFloat, opNarrow:
		v, _ := def.(float64)
		if n.op == opNarrow {
			v, _ = n.round(v)
		}
		n.pushFloat(v)
	case opString, opText:
		v, _ := def.(string)
		n.room(len(v))
		n.nb += copy(n.bytes[n.nb:], v)
		n.pushEnd(n.nb)
	case opList, opMap:
		n.pushEnd(n.elem.n)
	case opUnion:
		// A union has no zero of its own; use that of the first alternative.
		if len(n.fields) == 0 {
			n.pushAlt(-1, 0)
			return
		}
		alt := n.fields[0].node
		n.pushAlt(0, alt.n)
		alt.addDefault()
	case opStruct:
		for i := range n.fields {
			n.fields[i].node.addDefault()
		}
		n.n++
	}
}
