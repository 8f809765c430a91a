package backend

import (
	"net/http"
	"strings"

	"assay/internal/simulator/fault"
)

// Routes register what one vendor answers.
type Routes struct {
	s   *Service
	v   *Vendor
	mux *http.ServeMux
}

// On registers a call that needs a key. The path follows the vendor's prefix.
func (rt Routes) On(k fault.Kind, method, path string, h func(*Call)) {
	rt.Open(k, method, path, func(c *Call) {
		if c.Enter() {
			h(c)
		}
	})
}

// Open registers a call that needs no key: a signed address, or a vendor without keys.
func (rt Routes) Open(k fault.Kind, method, path string, h func(*Call)) {
	rt.mux.HandleFunc(method+" "+rt.v.Prefix+path, func(w http.ResponseWriter, r *http.Request) {
		rt.answer(w, r, k, "", h)
	})
}

// Verb is the part behind the colon in Google's paths.
type Verb struct {
	Kind fault.Kind
	Do   func(*Call)
}

// Verbs registers calls on a path that ends in {name} or {name}:{verb}, by the verb.
func (rt Routes) Verbs(method, path string, by map[string]Verb) {
	rt.mux.HandleFunc(method+" "+rt.v.Prefix+path+"/{last}", func(w http.ResponseWriter, r *http.Request) {
		name, word, _ := strings.Cut(r.PathValue("last"), ":")
		v, ok := by[word]
		if !ok {
			http.NotFound(w, r)
			return
		}
		rt.answer(w, r, v.Kind, name, func(c *Call) {
			if c.Enter() {
				v.Do(c)
			}
		})
	})
}

func (rt Routes) answer(w http.ResponseWriter, r *http.Request, k fault.Kind, name string, h func(*Call)) {
	c := rt.s.NewCall(rt.v, k, w, r)
	c.Name = name
	w.Header().Set(rt.v.idHeader(), c.RequestID())
	c.run(h)
}
