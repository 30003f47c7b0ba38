package calls

import (
	"reflect"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A maker returns a function of type t whose calls call f, or nil if it does not know the type. f
// returns the only result.
type maker func(t reflect.Type, f func(args []any) any) any

var makers sync.Map // reflect.Type → maker

// Register registers functions of T: of one T, of two, and of a T and a tensor, that return a T or
// a tensor.
func Register[T tenon.Value]() { makers.Store(reflect.TypeFor[T](), maker(of[T])) }

// New returns a function of type t whose calls call f, which returns the only result, or nil if no
// registered type among those of t can make it.
func New(t reflect.Type, f func(args []any) any) any {
	if t.NumOut() != 1 {
		return nil
	}
	if m, ok := makers.Load(t.Out(0)); ok {
		if made := m.(maker)(t, f); made != nil {
			return made
		}
	}
	for i := range t.NumIn() {
		if m, ok := makers.Load(t.In(i)); ok {
			if made := m.(maker)(t, f); made != nil {
				return made
			}
		}
	}
	return nil
}

func of[T tenon.Value](t reflect.Type, f func(args []any) any) any {
	type X = tensor.Tensor
	switch t {
	case reflect.TypeFor[func(T) T]():
		return func(a T) T { return result[T](f([]any{a})) }
	case reflect.TypeFor[func(T) X]():
		return func(a T) X { return result[X](f([]any{a})) }
	case reflect.TypeFor[func(X) T]():
		return func(a X) T { return result[T](f([]any{a})) }
	case reflect.TypeFor[func(T, T) T]():
		return func(a, b T) T { return result[T](f([]any{a, b})) }
	case reflect.TypeFor[func(T, T) X]():
		return func(a, b T) X { return result[X](f([]any{a, b})) }
	case reflect.TypeFor[func(T, X) T]():
		return func(a T, b X) T { return result[T](f([]any{a, b})) }
	case reflect.TypeFor[func(T, X) X]():
		return func(a T, b X) X { return result[X](f([]any{a, b})) }
	case reflect.TypeFor[func(X, T) T]():
		return func(a X, b T) T { return result[T](f([]any{a, b})) }
	case reflect.TypeFor[func(X, T) X]():
		return func(a X, b T) X { return result[X](f([]any{a, b})) }
	}
	return nil
}

// result returns the result of a function, or the zero value for nil.
func result[T any](x any) T {
	r, _ := x.(T)
	return r
}
