package throw

import (
	"errors"
	"fmt"
	"testing"
)

// caught returns what f panics with.
func caught(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

func TestThrow(t *testing.T) {
	want := errors.New("no")
	r := caught(func() { Throw(want) })
	var got error
	if !Recovered(r, &got) || got != want {
		t.Errorf("recovered %v", r)
	}
	if e, ok := r.(error); !ok || !errors.Is(e, want) || fmt.Sprint(r) != "no" {
		t.Errorf("what nobody catches prints as %v", r)
	}
	if r := caught(func() { Throw(nil) }); r != nil {
		t.Errorf("nil throws %v", r)
	}
	if Recovered("other", &got) || Recovered(nil, &got) {
		t.Error("another panic is taken for one of ours")
	}
	if r := caught(func() { Again("other") }); r != "other" {
		t.Errorf("another panic goes on as %v", r)
	}
	if r := caught(func() { Bug("size %d", 3) }); r != "size 3" || Recovered(r, &got) {
		t.Errorf("a bug is %v", r)
	}
}
