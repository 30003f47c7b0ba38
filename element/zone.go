package element

import (
	"fmt"
	"sync"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// location returns a zone: UTC, an offset such as +02:00, or a name that this machine knows.
func location(zone string) (*time.Location, error) {
	if at, err := time.Parse("Z07:00", zone); err == nil && zone != "Z" {
		_, offset := at.Zone()
		return time.FixedZone(zone, offset), nil
	}
	if zone == "" || zone == "Z" {
		zone = "UTC"
	}
	if zone == "Local" {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element", Where: zone, Msg: "the zone differs between machines", Hint: "use the name of the zone", Line: source.Line()}
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: "element", Where: zone, Err: err, Msg: "this machine does not know the zone", Hint: "import time/tzdata, or give an offset such as +02:00", Line: source.Line()}
	}
	return loc, nil
}

// shifts are the moments at which the offset of a zone changes, and the offsets: the first one
// applies before all moments, the others from a moment on.
type shifts struct{ at, offset []int64 }

var allShifts sync.Map // by zone

// lastYear is the year from which on a zone is assumed to keep its offset.
const lastYear = 2500

// shiftsOf returns the changes of a zone.
func shiftsOf(zone string) shifts {
	if s, ok := allShifts.Load(zone); ok {
		return s.(shifts)
	}
	loc := tenon.Must(location(zone))
	at := time.Date(1, 1, 1, 0, 0, 0, 0, loc)
	_, first := at.Zone()
	s := shifts{offset: []int64{int64(first)}}
	last := at
	for {
		_, end := at.ZoneBounds()
		if end.IsZero() || last.Year() > lastYear {
			break
		}
		_, offset := end.Zone()
		if int64(offset) != s.offset[len(s.offset)-1] {
			s.at, s.offset = append(s.at, end.Unix()), append(s.offset, int64(offset))
		}
		if at = end; !end.After(last) { // it may be the end of a year, where nothing changes
			at = last.Add(day)
		}
		last = at
	}
	allShifts.Store(zone, s)
	return s
}

// offsets returns how far local time is ahead of UTC at each moment, in the given
// unit.
func (s shifts) offsets(utc tensor.Tensor, unit time.Duration) tensor.Tensor {
	per := int64(time.Second / unit)
	if len(s.at) == 0 {
		return tensor.Scalar(s.offset[0] * per)
	}
	seconds := ops.FloorDiv(utc, per)
	k := ops.SearchSorted(tensor.Vector(s.at), seconds, true)
	return ops.Mul(ops.Gather(tensor.Vector(s.offset), k, 0), per)
}

// local returns the numbers in local time as int64, and a function that converts such numbers back
// to elements.
func (t Tensor) local() (tensor.Tensor, func(local tensor.Tensor) Tensor) {
	x := t.Data
	if x.DType() != dtype.Int64 {
		x = ops.Cast(x, dtype.Int64)
	}
	if t.Type.Kind != Timestamp || t.Type.Zone == "" || t.Type.Zone == "UTC" {
		return x, func(local tensor.Tensor) Tensor {
			if d := t.Type.Storage(); d != dtype.Int64 {
				local = ops.Cast(local, d)
			}
			return Tensor{Data: local, Type: t.Type}
		}
	}
	s := shiftsOf(t.Type.Zone)
	now := s.offsets(x, t.Type.Unit)
	return ops.Add(x, now), func(local tensor.Tensor) Tensor {
		utc := ops.Sub(local, s.offsets(ops.Sub(local, now), t.Type.Unit))
		return Tensor{Data: utc, Type: t.Type}
	}
}

// In converts timestamps to another zone; the moments stay the same.
func In(x tensor.Tensor, zone string) (tensor.Tensor, error) {
	return each("element.In", x, func(t Tensor) tensor.Tensor {
		if t.Type.Kind != Timestamp || t.Type.Zone == "" || zone == "" {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.In", Msg: fmt.Sprintf("%v has no zone", t.Type), Hint: "use element.Localize to set the zone of local times, or element.Local to drop a zone", Line: source.Line()})
		}
		tenon.Must(location(zone))
		t.Type.Zone = zone
		return t
	})
}

// Local returns timestamps with a zone as the local times there, without one.
func Local(x tensor.Tensor) (tensor.Tensor, error) {
	return each("element.Local", x, func(t Tensor) tensor.Tensor {
		if t.Type.Kind != Timestamp {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.Local", Msg: fmt.Sprintf("%v has no zone", t.Type), Line: source.Line()})
		}
		local, _ := t.local()
		return Tensor{Data: local, Type: TimestampOf(t.Type.Unit, "")}
	})
}

// Localize converts local times without a zone to moments in a zone. A local time that occurs
// twice, when clocks are set back, is the first of the two. A local time that is skipped is moved
// later by the time skipped.
func Localize(x tensor.Tensor, zone string) (tensor.Tensor, error) {
	return each("element.Localize", x, func(t Tensor) tensor.Tensor {
		if t.Type.Kind != Timestamp || t.Type.Zone != "" {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.Localize", Msg: fmt.Sprintf("%v is not a local time", t.Type), Hint: "use element.In to change the zone", Line: source.Line()})
		}
		s := shiftsOf(zone)
		// The offset before a change applies up to the local time of the change.
		early := shifts{offset: s.offset}
		for i, at := range s.at {
			early.at = append(early.at, at+max(s.offset[i], s.offset[i+1]))
		}
		return Tensor{Data: ops.Sub(t.Data, early.offsets(t.Data, t.Type.Unit)), Type: TimestampOf(t.Type.Unit, zone)}
	})
}
