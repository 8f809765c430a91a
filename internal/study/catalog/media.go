package catalog

import (
	"fmt"
	"path"
	"slices"

	"assay/internal/study/media"
)

// mediaRule is a row of how models count what they are shown.
type mediaRule struct {
	Match      []string `yaml:"match"` // patterns of names; the first row that matches wins
	media.Rule `yaml:",inline"`
	Date       Date   `yaml:"date"`
	Source     string `yaml:"source"`
}

// mediaLimits is a row of what a vendor takes.
type mediaLimits struct {
	Vendor       string `yaml:"vendor"` // "*": any
	API          string `yaml:"api"`    // empty: all
	media.Limits `yaml:",inline"`
	Date         Date   `yaml:"date"`
	Source       string `yaml:"source"`
}

// MediaRule returns how a model counts what it is shown. There is a rule for every name.
func (c *Catalog) MediaRule(vendor, model string) media.Rule {
	v, _ := c.Vendor(vendor)
	name := bareName(model)
	if v.NameDots {
		name = afterDots(name)
	}
	for _, r := range c.mediaRules {
		if slices.ContainsFunc(r.Match, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
			return r.Rule
		}
	}
	return media.Rule{}
}

// MediaLimits returns what a request to an API of a vendor may show a model.
func (c *Catalog) MediaLimits(vendor, api string) media.Limits {
	for _, l := range c.mediaLimits {
		if (l.Vendor == vendor || l.Vendor == "*") && (l.API == "" || l.API == api) {
			return l.Limits
		}
	}
	return media.Limits{}
}

// checkMedia returns the first thing that is wrong with the rows about media.
func (c *Catalog) checkMedia() error {
	if n := len(c.mediaRules); n == 0 || !slices.Contains(c.mediaRules[n-1].Match, "*") {
		return fmt.Errorf("rules of media: the last row does not match every model")
	}
	for _, r := range c.mediaRules {
		for _, p := range r.Match {
			if _, err := path.Match(p, ""); err != nil {
				return fmt.Errorf("rules of media: pattern %q: %w", p, err)
			}
		}
		if r.Page.Expected <= 0 || r.Page.High < r.Page.Expected || r.Image(1000, 1000, "") <= 0 {
			return fmt.Errorf("rules of media of %v: a page or a picture counts nothing", r.Match)
		}
	}
	if n := len(c.mediaLimits); n == 0 || c.mediaLimits[n-1].Vendor != "*" {
		return fmt.Errorf("limits of media: the last row is not for every vendor")
	}
	for _, l := range c.mediaLimits[:len(c.mediaLimits)-1] {
		if _, ok := c.Vendor(l.Vendor); !ok {
			return fmt.Errorf("limits of media: no vendor %q", l.Vendor)
		}
	}
	return nil
}
