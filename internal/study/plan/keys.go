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
			k.Names = nil                       // a base URL in a study gets only the key the study names
			if strings.HasPrefix(p.Key, "${") { // what is no name was reported, and may be the key itself
				k.Names = []string{strings.Trim(p.Key, "${}")}
			}
		}
		k.Optional = k.Optional || len(k.Names) == 0
		k.Set = slices.ContainsFunc(k.Names, keySet)
		keys = append(keys, k)
	}
	return keys
}

// Lacks names the settings besides a key that a provider needs and that neither the study nor the environment has, and how to give
// them; batch: those that only batches need, too. Empty: there is nothing.
func Lacks(d *Input, name string, batch bool, isSet func(name string) bool) (what, hint string) {
	p, _ := d.Study.Providers.Find(name)
	kind, _ := d.Catalog.Kind(name, p.Kind, p.BaseURL)
	v, _ := d.Catalog.Vendor(kind)
	given := map[string]string{"project": p.Project, "location": p.Location, "account": p.Account, "role": p.Role}
	var titles, keys, env []string
	for _, s := range v.Settings {
		variable, named := strings.CutPrefix(given[s.Name], "${")
		has := given[s.Name] != "" && (!named || isSet(strings.TrimSuffix(variable, "}")))
		if s.Name == "bucket" {
			has = p.Input != "" && p.Output != ""
		}
		if has || s.Batch && !batch || slices.ContainsFunc(s.Env, isSet) {
			continue
		}
		titles, env = append(titles, s.What), append(env, s.Env[0])
		if s.Name == "bucket" {
			keys = append(keys, "input: "+s.Scheme+"…", "output: "+s.Scheme+"…")
		} else {
			keys = append(keys, s.Name+": …")
		}
	}
	if len(titles) == 0 {
		return "", ""
	}
	return v.Title + " needs " + strings.Join(titles, ", "),
		"providers: {" + name + ": {" + strings.Join(keys, ", ") + "}}, or set " + strings.Join(env, ", ")
}
