package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Setting is something that an account needs besides a key, such as the name of a project.
type Setting struct {
	Name   string   `yaml:"name"`   // one of SettingNames
	What   string   `yaml:"what"`   // in words, such as "the project"
	Env    []string `yaml:"env"`    // variables that hold it: the first that is set wins
	Batch  bool     `yaml:"batch"`  // only batches need it
	Scheme string   `yaml:"scheme"` // how the address of a bucket begins
}

// SettingNames returns the settings there can be.
func SettingNames() []string { return []string{"project", "location", "bucket", "role", "account"} }

// Called lists the vendors that people call by a word which is not their name.
func (c *Catalog) Called(word string) []string {
	word = strings.ToLower(word)
	var out []string
	for _, v := range c.vendors {
		if slices.Contains(v.AlsoCalled, word) {
			out = append(out, v.Name)
		}
	}
	return out
}

// KeyForms lists how the vendors' keys begin.
func (c *Catalog) KeyForms() []string {
	var out []string
	for _, v := range c.vendors {
		out = append(out, v.KeyForms...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// OpenHeader reports whether a header of a request to a vendor holds no secret.
func (c *Catalog) OpenHeader(name string) bool {
	name = strings.ToLower(name)
	for _, v := range c.vendors {
		for _, open := range v.OpenHeaders {
			if begin, any := strings.CutSuffix(open, "*"); name == open || any && strings.HasPrefix(name, begin) {
				return true
			}
		}
	}
	return false
}

// Serves reports whether a model is known to be one of a vendor's.
func (c *Catalog) Serves(v Vendor, model string) bool {
	return v.ModelPrefix != "" && strings.HasPrefix(model, v.ModelPrefix) || c.Find(v.Name, model).Known
}

// IDs returns the form that ids in the vendor's batch files have; nil: any.
func (v Vendor) IDs() *regexp.Regexp {
	if v.IDPattern == "" {
		return nil
	}
	return regexp.MustCompile(v.IDPattern) // Load refuses a row where it does not compile
}

// checkAccount checks a row's keys about accounts and ids.
func checkAccount(v Vendor) error {
	for _, s := range v.Settings {
		if !slices.Contains(SettingNames(), s.Name) || s.What == "" || len(s.Env) == 0 {
			return fmt.Errorf("vendor %s: setting %q is not known, or says not what it is or which variable holds it", v.Name, s.Name)
		}
	}
	if _, err := regexp.Compile(v.IDPattern); err != nil {
		return fmt.Errorf("vendor %s: id_pattern: %w", v.Name, err)
	}
	if (v.IDPattern == "") != (v.IDWords == "") {
		return fmt.Errorf("vendor %s: id_pattern and id_words stand together", v.Name)
	}
	return nil
}

// Maker returns the vendor under whose name a model is listed, whoever serves it.
func (c *Catalog) Maker(vendor, model string) string {
	v, ok := c.Vendor(vendor)
	if !ok {
		return vendor
	}
	maker, _ := c.makerOf(v, model)
	return maker
}

// LongBeta is a beta with which models write more than they do else, in batches alone.
type LongBeta struct {
	Header string   `yaml:"header"`
	Value  string   `yaml:"value"`
	Tokens int      `yaml:"tokens"`
	Models []string `yaml:"models"` // patterns
}

// HookToken is how a vendor's webhooks that carry a token in the place of a signature are verified. The zero value: it sends none.
type HookToken struct {
	AudienceEnv string `yaml:"audience_env"` // the variable with whom tokens are made for
	KeysEnv     string `yaml:"keys_env"`     // the variable with another place of its public keys: a file or a URL
	Keys        string `yaml:"keys"`         // the vendor's own place
}
