package op

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
)

// Stored is a call of an operation in a graph that was stored.
type Stored struct {
	Op      string
	Version int // from 1 on

	// Attrs are the attributes that were given, as returned by [EncodeAttr]. The others have the
	// defaults of their parameters.
	Attrs map[string]tenon.Encoding

	// Values are the other arguments: tensors and regions. They can be renamed or omitted.
	Values map[string]tenon.Encoding
}

// An upgrade turns a call of an earlier version into one of a later version.
type upgrade func(s *Stored) error

var (
	upgradesMu sync.RWMutex
	upgrades   = map[string]upgrade{} // by stored names
)

// RegisterUpgrade registers how stored calls of a version of an operation are converted: f changes
// the call, or makes it one of another operation, and sets Version to its new version. If that is
// not the version in this program, the upgrade from that version follows. Call it next to
// [Register] of the new version; an operation that no longer exists can be upgraded too.
// RegisterUpgrade throws if there is such an upgrade already. The function it returns removes the
// upgrade, for tests.
func RegisterUpgrade(name string, version int, f func(s *Stored) error) (remove func()) {
	upgradesMu.Lock()
	defer upgradesMu.Unlock()
	at := storedName(name, version)
	if upgrades[at] != nil {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "op.RegisterUpgrade", at+" has an upgrade already"))
	}
	upgrades[at] = f
	return func() {
		upgradesMu.Lock()
		defer upgradesMu.Unlock()
		delete(upgrades, at)
	}
}

// StoredName returns the name of the operation in stored graphs: name@version, or just the name for
// version 1.
func (o *Op) StoredName() string { return storedName(o.Name, o.Version) }

func storedName(name string, version int) string {
	if version <= 1 {
		return name
	}
	return fmt.Sprintf("%s@%d", name, version)
}

// parseStored returns the name and version of a stored name.
func parseStored(stored string) (name string, version int) {
	name, text, ok := strings.Cut(stored, "@")
	if !ok {
		return name, 1
	}
	if n, err := strconv.Atoi(text); err == nil && n > 1 && strconv.Itoa(n) == text {
		return name, n
	}
	return stored, 1
}

// Readable returns nil if this program can read calls of an operation, given its stored name: it
// has the operation in that version, or an upgrade.
func Readable(stored string) error {
	name, version := parseStored(stored)
	o, ok := Lookup(name)
	if ok && max(o.Version, 1) == version {
		return nil
	}
	upgradesMu.RLock()
	defer upgradesMu.RUnlock()
	switch {
	case upgrades[storedName(name, version)] != nil:
		return nil
	case ok:
		return fmt.Errorf("operation %s is stored in version %d, this program has version %d", name, version, max(o.Version, 1))
	}
	return fmt.Errorf("there is no operation %q in this program", stored)
}

// maxUpgrades bounds the number of consecutive upgrades.
const maxUpgrades = 100

// Current converts a stored call to the operation and the arguments of this program. Attributes are
// tuples of "attr" and their encoding, as graphs store them.
func Current(stored string, args tenon.Dict) (*Op, tenon.Dict, error) {
	name, version := parseStored(stored)
	if o, ok := Lookup(name); ok && max(o.Version, 1) == version {
		return o, args, nil
	}
	s := &Stored{Op: name, Version: version, Attrs: map[string]tenon.Encoding{}, Values: map[string]tenon.Encoding{}}
	for _, a := range args {
		if e, ok := storedAttr(a.Value); ok {
			s.Attrs[a.Name] = e
		} else {
			s.Values[a.Name] = a.Value
		}
	}
	for range maxUpgrades {
		o, ok := Lookup(s.Op)
		if ok && max(o.Version, 1) == s.Version {
			all := maps.Clone(s.Values)
			for k, e := range s.Attrs {
				all[k] = tenon.Tuple{tenon.Str("attr"), e}
			}
			return o, tenon.NewDict(all), nil
		}
		at := storedName(s.Op, s.Version)
		upgradesMu.RLock()
		f := upgrades[at]
		upgradesMu.RUnlock()
		if f == nil {
			return nil, nil, Readable(at)
		}
		if err := f(s); err != nil {
			return nil, nil, fmt.Errorf("the upgrade of %s: %w", at, err)
		}
	}
	return nil, nil, fmt.Errorf("the upgrades of %s do not end", stored)
}

// storedAttr returns the encoding of an attribute in the form in which graphs
// store it.
func storedAttr(e tenon.Encoding) (tenon.Encoding, bool) {
	t, ok := e.(tenon.Tuple)
	if !ok || len(t) != 2 || !tenon.EqualEncoding(t[0], tenon.Str("attr")) {
		return nil, false
	}
	return t[1], true
}
