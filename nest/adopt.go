package nest

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
)

// An Adopter returns, for a Go type of leaf that holds a Value in a form of its own,
// the function that makes one of a Value: [Pack] calls it where a leaf of another Go
// type goes to such a place, with the template that stands there. For other types it
// returns nil.
type Adopter = func(t reflect.Type) func(v tenon.Value, like any) (any, error)

var adopters struct {
	sync.Mutex
	list []Adopter
}

// Adopt registers an Adopter. It is called from init, before a structure is walked.
func Adopt(a Adopter) {
	adopters.Lock()
	defer adopters.Unlock()
	adopters.list = append(adopters.list, a)
}

func adopterOf(t reflect.Type) func(v tenon.Value, like any) (any, error) {
	adopters.Lock()
	defer adopters.Unlock()
	for _, a := range adopters.list {
		if f := a(t); f != nil {
			return f
		}
	}
	return nil
}

// storeAdopted stores a leaf into the place p, in the form that the template at like,
// of plan q, has.
func (p *plan) storeAdopted(q *plan, x any, like, out unsafe.Pointer) *failure {
	if v, ok := x.(tenon.Value); ok && q.adopt != nil && reflect.TypeOf(x) != q.typ {
		y, err := q.adopt(v, q.load(like))
		if err != nil {
			return &failure{kind: tenon.AsError(err).Kind, cause: err}
		}
		x = y
	}
	return p.store(x, out)
}
