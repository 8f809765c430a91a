package batchrun

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/study/catalog"
)

// Target is the provider that a file goes to; its name is empty if the lines have to name it.
type Target struct {
	Name  string // as its user calls it
	Kind  string // whose rules hold
	Mode  assay.Mode
	Reach Reach
}

// Wish holds a user's settings of a provider; every field may be empty.
type Wish struct {
	Provider string
	BaseURL  string
	KeyEnv   string // the variable that holds the key
	Settings map[string]string
	Live     bool // asked live instead of as a batch
	BatchAPI bool // the server at BaseURL has batches of its own
}

// Resolver reads wishes: against the catalogue, with settings from the environment where a wish leaves them out.
type Resolver struct {
	Catalog *catalog.Catalog
	Env     func(name string) (string, bool)
}

// UsageError is something that the user has to put right.
type UsageError struct{ What, Hint string }

// Error returns what is wrong, and what to do about it.
func (e *UsageError) Error() string {
	if e.Hint == "" {
		return e.What
	}
	return fmt.Sprintf("%s (%s)", e.What, e.Hint)
}

func usage(hint, format string, args ...any) error {
	return &UsageError{What: fmt.Sprintf(format, args...), Hint: hint}
}

// Target returns the provider that a wish means. A server of the user's own without batches, and a vendor without batches, are
// asked live.
func (r Resolver) Target(w Wish) (Target, error) {
	t := Target{Name: batchfile.ProviderName(r.Catalog, w.Provider), Mode: assay.ModeBatch}
	if w.Live {
		t.Mode = assay.ModeLive
	}
	if w.KeyEnv != "" {
		t.Reach.Key = "${" + strings.Trim(w.KeyEnv, "${}") + "}"
	}
	if w.BaseURL != "" {
		if u, err := url.Parse(w.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return t, usage("such as http://localhost:8000/v1", "--base-url: not the address of a server")
		}
		t.Name, t.Reach.BaseURL = cmp.Or(t.Name, catalog.Copied), w.BaseURL
		if t.Name == catalog.Copied || t.Name == catalog.Compatible {
			t.Kind, t.Mode = catalog.LiveServer, assay.ModeLive
			if w.BatchAPI {
				t.Kind, t.Mode = catalog.Compatible, assay.ModeBatch
			}
		}
	}
	if t.Name == "" {
		return t, nil
	}
	return r.Complete(w, t)
}

// Complete adds what the target's vendor needs besides a key.
func (r Resolver) Complete(w Wish, t Target) (Target, error) {
	t.Kind = cmp.Or(t.Kind, t.Name)
	v, ok := r.Catalog.Vendor(t.Kind)
	if !ok {
		var names []string
		for _, v := range r.Catalog.Vendors() {
			names = append(names, v.Name)
		}
		return t, usage(assay.Choices(t.Name, names), "no provider is called %q", t.Name)
	}
	if !v.Batch {
		t.Mode = assay.ModeLive
	}
	for _, s := range v.Settings {
		if value := r.value(w, s); value != "" {
			t.Reach.set(s, value)
		}
	}
	return t, nil
}

// value returns the setting of a wish, or the first variable that is set.
func (r Resolver) value(w Wish, s catalog.Setting) string {
	value := w.Settings[s.Name]
	for _, name := range s.Env {
		if v, ok := r.Env(name); ok && value == "" {
			value = v
		}
	}
	return value
}

// Lacks returns an error that names what is missing before anything can be sent; nil: nothing is.
func (r Resolver) Lacks(t Target) error {
	v, _ := r.Catalog.Vendor(t.Kind)
	var what, flags, env []string
	for _, s := range v.Settings {
		if *t.Reach.field(s) == "" && (!s.Batch || t.Mode == assay.ModeBatch) {
			what, flags, env = append(what, s.What), append(flags, "--"+s.Name), append(env, s.Env[0])
		}
	}
	if len(what) == 0 {
		return nil
	}
	return usage(fmt.Sprintf("say %s, or set %s", listed(flags), listed(env)), "%s needs %s", v.Title, listed(what))
}

// listed joins words as a sentence does.
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Keyed lists the batch providers that can be asked for jobs made elsewhere: those whose keys are set, or the one that
// the wish names.
func (r Resolver) Keyed(w Wish) ([]Target, error) {
	if w.Provider != "" || w.BaseURL != "" {
		t, err := r.Target(w)
		return []Target{t}, err
	}
	isSet := func(name string) bool { v, ok := r.Env(name); return ok && v != "" }
	var out []Target
	for _, v := range r.Catalog.Vendors() {
		if !v.Batch || v.Name == catalog.Compatible || len(v.KeyEnv) > 0 && !v.KeyOptional && !slices.ContainsFunc(v.KeyEnv, isSet) {
			continue
		}
		t, err := r.Complete(w, Target{Name: v.Name, Mode: assay.ModeBatch})
		if err != nil {
			return nil, err
		}
		if r.Lacks(t) == nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// set writes a setting where the provider looks for it. A bucket gives a folder for input and one for results.
func (r *Reach) set(s catalog.Setting, value string) {
	if s.Name == "bucket" {
		folder := s.Scheme + strings.Trim(strings.TrimPrefix(value, s.Scheme), "/")
		value, r.Output = folder+"/input/", folder+"/output/"
	}
	*r.field(s) = value
}

func (r *Reach) field(s catalog.Setting) *string {
	switch s.Name {
	case "project":
		return &r.Project
	case "location":
		return &r.Location
	case "account":
		return &r.Account
	case "role":
		return &r.Role
	}
	return &r.Input
}
