package main

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"
)

// encode writes code that assigns the encoding of an expression to another one.
func (g *generator) encode(t types.Type, tg tag, x, to string) {
	g.depth++
	defer func() { g.depth-- }()
	switch k, _ := g.kindOf(t, tg); k {
	case static:
		switch b := t.Underlying().(*types.Basic); {
		case b.Info()&types.IsBoolean != 0:
			g.printf("%s = tenon.Bool(%s)", to, x)
		case b.Info()&types.IsUnsigned != 0:
			g.printf("%s = tenon.Int(int64(%s))", to, x)
		case b.Info()&types.IsInteger != 0:
			g.printf("%s = tenon.Int(%s)", to, x)
		case b.Info()&types.IsFloat != 0:
			g.printf("%s = tenon.Float(%s)", to, x)
		default:
			g.printf("%s = tenon.Str(%s)", to, x)
		}
	case bytesKind:
		g.printf("%s = tenon.Str(%s)", to, x)
	case dtypeKind:
		g.printf("%s = tenon.DType{DType: %s}", to, x)
	case shapeKind:
		g.printf("%s = tenon.Shape{Shape: %s}", to, x)
	case specKind:
		g.printf("%s = codec.EncodeSpec(%s)", to, x)
	case scalarKind:
		g.printf("%s = codec.EncodeScalar(%s)", to, x)
	case place, behind:
		g.printf("%s = codec.EncodePlace(specs)", to)
	case structKind:
		fields, _ := fieldsOf(t)
		f := g.v("f")
		g.printf("%s := make([]tenon.Entry, %d)", f, len(fields))
		for i, y := range fields {
			g.printf("%s[%d].Name = %q", f, i, y.name)
			g.encode(y.typ, y.tag, x+"."+y.expr, fmt.Sprintf("%s[%d].Value", f, i))
		}
		g.printf("%s = codec.EncodeStruct(%s)", to, f)
	case sliceKind, arrayKind:
		l, i := g.v("l"), g.v("i")
		kindName := "List"
		if k == arrayKind {
			kindName = "Tuple"
		}
		g.printf("{\n%s := make(tenon.%s, len(%s))\nfor %s := range %s {", l, kindName, x, i, x)
		g.encode(elem(t), tg, x+"["+i+"]", l+"["+i+"]")
		g.printf("}\n%s = %s\n}", to, l)
	case mapKind:
		d, key, v, e := g.v("d"), g.v("k"), g.v("v"), g.v("e")
		g.printf("{\n%s := tenon.Dict{}\nfor _, %s := range codec.Keys(%s) {\n%s := %s[%s]\n_ = %s\nvar %s tenon.Encoding", d, key, x, v, x, key, v, e)
		g.encode(elem(t), tg, v, e)
		g.printf("%s = append(%s, tenon.Entry{Name: string(%s), Value: %s})\n}\n%s = %s\n}", d, d, key, e, to, d)
	case pointerKind:
		e := g.v("e")
		g.printf("%s = tenon.Nil{}\nif %s != nil {\nvar %s tenon.Encoding", to, x, e)
		g.encode(elem(t), tg, "(*"+x+")", e)
		g.printf("%s = tenon.Tuple{%s}\n}", to, e)
	}
}

// decodeFields writes code that decodes the fields of a struct, in order.
func (g *generator) decodeFields(fields []field, x, from, path string) {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = strconv.Quote(f.name)
	}
	g.printf("if err := codec.DecodeNames(%s, %s); err != nil {\nreturn codec.Within(%s, err)\n}", from, strings.Join(list, ", "), path)
	for i, f := range fields {
		g.decode(f.typ, f.tag, x+"."+f.expr, fmt.Sprintf("%s[%d].Value", from, i), pathOf(path, f.name))
	}
}

// decode writes code that decodes the result of encode.
func (g *generator) decode(t types.Type, tg tag, x, from, path string) {
	g.depth++
	defer func() { g.depth-- }()
	call := func(format string, args ...any) {
		g.printf("if err := "+format+"; err != nil {\nreturn codec.Within("+path+", err)\n}", args...)
	}
	open := func(v, f string) {
		g.printf("{\n%s, err := codec.%s\nif err != nil {\nreturn codec.Within(%s, err)\n}", v, f, path)
	}
	switch k, _ := g.kindOf(t, tg); k {
	case static:
		f := "DecodeString"
		switch b := t.Underlying().(*types.Basic); {
		case b.Info()&types.IsBoolean != 0:
			f = "DecodeBool"
		case b.Info()&types.IsUnsigned != 0:
			f = "DecodeUint"
		case b.Info()&types.IsInteger != 0:
			f = "DecodeInt"
		case b.Info()&types.IsFloat != 0:
			f = "DecodeFloat"
		}
		call("codec.%s(%s, %s)", f, addr(x), from)
	case bytesKind:
		call("codec.DecodeBytes(%s, %s)", addr(x), from)
	case dtypeKind:
		call("codec.DecodeDType(%s, %s)", addr(x), from)
	case shapeKind:
		call("codec.DecodeShape(%s, %s)", addr(x), from)
	case specKind:
		call("codec.DecodeSpec(%s, %s)", addr(x), from)
	case scalarKind:
		call("codec.DecodeScalar(%s, %s)", addr(x), from)
	case place, behind:
		v := t
		if k == behind {
			v = elem(t)
		}
		call("codec.DecodePlace[%s](%s, %q, %v, specs)", g.typeName(v), from, tg.typeName, tg.optional || k == behind)
	case structKind:
		fields, _ := fieldsOf(t)
		f := g.v("f")
		open(f, fmt.Sprintf("DecodeStruct(%s)", from))
		g.decodeFields(fields, x, f, path)
		g.printf("}")
	case sliceKind:
		l, i := g.v("l"), g.v("i")
		open(l, fmt.Sprintf("DecodeList(%s)", from))
		g.printf("if len(%s) > 0 {\n%s = make(%s, len(%s))\n}\nfor %s := range %s {", l, x, g.typeName(t), l, i, l)
		g.decode(elem(t), tg, x+"["+i+"]", l+"["+i+"]", path+" + codec.At("+i+")")
		g.printf("}\n}")
	case arrayKind:
		l, i := g.v("l"), g.v("i")
		open(l, fmt.Sprintf("DecodeArray(%s, len(%s))", from, x))
		g.printf("for %s := range %s {", i, l)
		g.decode(elem(t), tg, x+"["+i+"]", l+"["+i+"]", path+" + codec.At("+i+")")
		g.printf("}\n}")
	case mapKind:
		d, e, v := g.v("d"), g.v("e"), g.v("v")
		open(d, fmt.Sprintf("DecodeDict(%s)", from))
		g.printf("if len(%s) > 0 {\n%s = make(%s, len(%s))\n}\nfor _, %s := range %s {\nvar %s %s", d, x, g.typeName(t), d, e, d, v, g.typeName(elem(t)))
		g.decode(elem(t), tg, v, e+".Value", path+" + codec.Entry("+e+".Name)")
		key := t.Underlying().(*types.Map).Key()
		g.printf("%s[%s(%s.Name)] = %s\n}\n}", x, g.typeName(key), e, v)
	case pointerKind:
		l, p := g.v("l"), g.v("p")
		g.printf("if _, none := %s.(tenon.Nil); !none {\n%s, err := codec.DecodeArray(%s, 1)\nif err != nil {\nreturn codec.Within(%s, err)\n}\n%s := new(%s)", from, l, from, path, p, g.typeName(elem(t)))
		g.decode(elem(t), tg, "(*"+p+")", l+"[0]", path)
		g.printf("%s = %s\n}", x, p)
	}
}
