package nest

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
)

// An Adopter lets [Pack] store a Value in a leaf that holds one in a form of its own. For such a Go
// type of leaf, it returns a function that converts a Value, given the template in that place; for
// other types it returns nil. Pack uses it when a leaf has another Go type than its place.
type Adopter = func(t reflect.Type) func(v tenon.Value, like any) (any, error)

var adopters struct {
	sync.Mutex
	list []Adopter
}

// Adopt registers an Adopter. Call it from init, before any structure is walked.
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

// storeAdopted stores a leaf in the place p, in the form of the template at like, whose plan is q.
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
