package dimcheck

import (
	"fmt"
	"strings"
)

// runKey returns a key that identifies a run of a program.
func runKey(f *frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %v", f.prog, f.names)
	for _, list := range [][]*val{f.args, f.binds} {
		for _, v := range list {
			writeKey(&b, v)
		}
		b.WriteByte('|')
	}
	return b.String()
}

func writeKey(b *strings.Builder, v *val) {
	b.WriteByte(';')
	if v == nil {
		return
	}
	fmt.Fprintf(b, "%d%v%d%s", v.Kind, v.Dims, v.Number, v.Text)
	if v.Attrs != nil {
		fmt.Fprintf(b, "%v", *v.Attrs)
	}
	if v.Func != nil {
		fmt.Fprintf(b, "%p%s%v%v%d", v.Func.Prog, v.Func.Key, v.Func.Names, v.Func.Over, v.Func.Gives)
		for _, x := range v.Func.Binds {
			writeKey(b, x)
		}
	}
	if len(v.Fields) > 0 {
		for _, k := range sortedKeys(v.Fields) {
			b.WriteString(k)
			writeKey(b, v.Fields[k])
		}
	}
}
