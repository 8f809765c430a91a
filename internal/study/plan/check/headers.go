package check

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
)

// betaWords is the form of what headers for betas hold: a few names, often with a date.
var betaWords = regexp.MustCompile(`^[a-z][a-z0-9.=_-]{0,63}( *, *[a-z][a-z0-9.=_-]{0,63}){0,9}$`)

// checkHeaders lets headers of the vendors' betas through, and nothing that may hold a key: a study is read by many.
func (d checker) checkHeaders(problems *assay.Problems) {
	for _, e := range d.Study.Providers {
		if len(e.Value.Headers) == 0 {
			continue
		}
		at := e.Value.Where.Key("headers")
		kind, _ := d.Catalog.Kind(e.Name, e.Value.Kind, e.Value.BaseURL)
		v, _ := d.Catalog.Vendor(kind)
		for _, h := range e.Value.Headers {
			switch {
			case !slices.Contains(v.BetaHeaders, strings.ToLower(h.Name)):
				hint := "leave it out: no header of its calls can be set"
				if len(v.BetaHeaders) > 0 {
					hint = "headers that can be set: " + strings.Join(v.BetaHeaders, ", ")
				}
				problems.Add(at, hint, "provider %s takes no header %q from a study", e.Name, assay.Clean(h.Name, 60))
			case !betaWords.MatchString(h.Value) || d.likeKey(h.Value):
				problems.Add(at, "names of betas in small letters, parted by commas; a key belongs into its variable",
					"header %s of provider %s is no list of betas", h.Name, e.Name) // without its value, which may be a key
			}
		}
	}
}

// likeKey reports whether a text begins as some vendor's keys do.
func (d checker) likeKey(text string) bool {
	return slices.ContainsFunc(d.Catalog.KeyForms(), func(form string) bool {
		return slices.ContainsFunc(strings.Split(text, ","), func(word string) bool {
			return strings.HasPrefix(strings.TrimSpace(word), form)
		})
	})
}
