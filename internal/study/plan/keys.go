package plan

import (
	"slices"
	"strings"
)

// Key holds what the lanes of one provider need from the environment.
type Key struct {
	Provider string
	Names    []string // alternatives, in the order they are looked for
	Lanes    []string
	Set      bool
	Optional bool
}

// Users names the lanes that need the key, for messages.
func (k *Key) Users() string {
	if len(k.Lanes) == 1 {
		return "lane " + k.Lanes[0]
	}
	return "lanes " + strings.Join(k.Lanes, ", ")
}

// Keys lists the API keys a study needs, in the order of its lanes.
func (d *Input) Keys(keySet func(name string) bool) []Key {
	var keys []Key
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.Kind(l)
		if !ok {
			continue
		}
		if j := slices.IndexFunc(keys, func(k Key) bool { return k.Provider == l.Provider }); j >= 0 {
			keys[j].Lanes = append(keys[j].Lanes, l.Name)
			continue
		}
		v, _ := d.Catalog.Vendor(kind)
		k := Key{Provider: l.Provider, Names: slices.Concat(v.KeyEnv, v.KeyElse), Lanes: []string{l.Name}, Optional: v.KeyOptional}
		if p, ok := d.Study.Providers.Find(l.Provider); ok && (p.Key != "" || p.BaseURL != "") {
			k.Names = nil // a base URL in a study gets only the key the study names
			if p.Key != "" {
				k.Names = []string{strings.Trim(p.Key, "${}")}
			}
		}
		k.Optional = k.Optional || len(k.Names) == 0
		k.Set = slices.ContainsFunc(k.Names, keySet)
		keys = append(keys, k)
	}
	return keys
}
