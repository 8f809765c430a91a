package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// rows is what the files under data/ say.
type rows struct {
	APIs        []api
	Vendors     []Vendor
	Families    []Family
	Models      []Model
	Prices      []PriceRow
	Callable    []toolRule
	Guesses     guesses
	MediaRules  []mediaRule
	MediaLimits []mediaLimits
}

// Pack reads the files under data/, checks every row, and returns all of them as Default reads them.
func Pack(files fs.FS) ([]byte, error) {
	r, err := read(files)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	c, err := Unpack(text)
	if err != nil {
		return nil, err
	}
	return text, c.check()
}

// Unpack returns the catalogue of packed rows.
func Unpack(text []byte) (*Catalog, error) {
	var r rows
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read packed catalogue: %w", err)
	}
	return r.catalog()
}

func read(files fs.FS) (r rows, err error) {
	for _, part := range []struct {
		name string
		into any
	}{
		{"data/apis.yaml", &r.APIs}, {"data/vendors.yaml", &r.Vendors}, {"data/prices.yaml", &r.Prices}, {"data/tools.yaml", &r.Callable},
		{"data/output.yaml", &r.Guesses}, {"data/media/tokens.yaml", &r.MediaRules}, {"data/media/limits.yaml", &r.MediaLimits},
	} {
		if err := readFile(files, part.name, part.into); err != nil {
			return r, err
		}
	}
	if r.Families, err = readFolder[Family](files, "data/families"); err != nil {
		return r, err
	}
	r.Models, err = readFolder[Model](files, "data/models")
	return r, err
}

// catalog makes the rows findable.
func (r *rows) catalog() (*Catalog, error) {
	c := &Catalog{vendors: r.Vendors, families: r.Families, models: r.Models, rows: r.Prices, guesses: r.Guesses, callable: r.Callable,
		mediaRules: r.MediaRules, mediaLimits: r.MediaLimits, apis: make(map[string]api, len(r.APIs))}
	for i := range c.vendors {
		c.vendors[i].boundJobs()
	}
	for _, a := range r.APIs {
		c.apis[a.Name] = a
	}
	return c, c.index()
}

// mostInJob bounds the requests of a job where its vendor allows more, or any number: what settles a job holds all its keys in memory.
const mostInJob = 100_000

func (v *Vendor) boundJobs() {
	if l := &v.Limits; v.Batch && (l.Requests == 0 || l.Requests > mostInJob) {
		l.Requests = mostInJob
	}
}

// readFolder reads the rows of every file in a folder, in the order of the files' names.
func readFolder[T any](files fs.FS, folder string) ([]T, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	var all []T
	for _, name := range names {
		var rows []T
		if err := readFile(files, name, &rows); err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func readFile(files fs.FS, name string, into any) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("read catalogue: %w", err)
	}
	if err := decode(bytes.NewReader(text), into); err != nil {
		return fmt.Errorf("read catalogue file %s: %w", name, err)
	}
	return nil
}

// decode reads one YAML document in which every key must be known. The decoder panics on some texts, such as a tagged
// mapping where a list is wanted; a file of the user's must not.
func decode(r io.Reader, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not the YAML that was expected: %v", p)
		}
	}()
	return yaml.NewDecoder(r, yaml.Strict()).Decode(into)
}

// index makes models and prices findable by name.
func (c *Catalog) index() error {
	c.names = make(map[modelKey]int, 2*len(c.models))
	for i, m := range c.models {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			k := keyOf(m.Vendor, name)
			if _, taken := c.names[k]; taken {
				return fmt.Errorf("model %s/%s: named twice", m.Vendor, name)
			}
			c.names[k] = i
		}
	}
	c.prices = make(map[modelKey]Price, len(c.rows))
	for _, row := range c.rows {
		k := keyOf(row.Vendor, row.Model)
		if _, taken := c.prices[k]; taken {
			return fmt.Errorf("price of %s/%s: given twice", row.Vendor, row.Model)
		}
		price, err := c.resolve(row)
		if err != nil {
			return err
		}
		c.prices[k] = price
	}
	return nil
}

// check returns everything that is wrong with the rows.
func (c *Catalog) check() error {
	var bad []error
	dated := func(what string, d Date, source string) {
		if !d.valid() || !slices.Contains(sourceTags(), firstWord(source)) {
			bad = append(bad, fmt.Errorf("%s: date %q or source %q is missing or not legal", what, d, source))
		}
	}
	for _, a := range c.apis {
		dated("api "+a.Name, a.Date, a.Source)
	}
	for _, v := range c.vendors {
		dated("vendor "+v.Name, v.Date, v.Source)
		dated("limits of "+v.Name, v.Limits.Date, v.Limits.Source)
		bad = append(bad, c.checkVendor(v), checkAccount(v))
	}
	for _, name := range []string{Copied, Compatible, LiveServer} {
		if _, ok := c.Vendor(name); !ok {
			bad = append(bad, fmt.Errorf("vendor %s: has no row", name))
		}
	}
	for _, f := range c.families {
		dated("family "+f.Name, f.Date, f.Source)
		bad = append(bad, checkFamily(f))
	}
	for _, m := range c.models {
		dated("model "+m.Vendor+"/"+m.Name, m.Date, m.Source)
		bad = append(bad, c.checkModel(m))
	}
	for _, row := range c.rows {
		dated("price of "+row.Vendor+"/"+row.Model, row.Date, row.Source)
		if _, ok := c.names[keyOf(row.Vendor, row.Model)]; !ok {
			bad = append(bad, fmt.Errorf("price of %s/%s: no such model", row.Vendor, row.Model))
		}
	}
	dated("output estimates", c.guesses.Date, c.guesses.Source)
	for _, r := range c.mediaRules {
		dated("rule of media", r.Date, r.Source)
	}
	for _, l := range c.mediaLimits {
		dated("limits of media", l.Date, l.Source)
	}
	bad = append(bad, c.checkMedia())
	return errors.Join(bad...)
}

func (c *Catalog) checkVendor(v Vendor) error {
	if _, ok := c.apis[v.DefaultAPI]; !ok || !slices.Contains(v.APIs, v.DefaultAPI) {
		return fmt.Errorf("vendor %s: default api %q is not one of its own", v.Name, v.DefaultAPI)
	}
	for _, name := range slices.Concat(v.APIs, v.Data) {
		if a, ok := c.apis[name]; !ok || a.Data != slices.Contains(v.Data, name) {
			return fmt.Errorf("vendor %s: api %q is not known, or not of that kind", v.Name, name)
		}
	}
	if _, ok := c.family(v.Fallback); !ok {
		return fmt.Errorf("vendor %s: fallback family %q is not known", v.Name, v.Fallback)
	}
	if v.Batch && v.Carrier == "" {
		return fmt.Errorf("vendor %s: has batches and no carrier", v.Name)
	}
	if v.BatchCached != cachedAsLive && v.BatchCached != cachedStack {
		return fmt.Errorf("vendor %s: batch_cached %q is not known", v.Name, v.BatchCached)
	}
	return nil
}

func checkFamily(f Family) error {
	for _, p := range f.Match {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("family %s: pattern %q: %w", f.Name, p, err)
		}
	}
	if !slices.Contains([]Reasons{ReasonsUnknown, ReasonsAlways, ReasonsDefault, ReasonsAsked, ReasonsNever}, f.Reasons) {
		return fmt.Errorf("family %s: reasons %q is not known", f.Name, f.Reasons)
	}
	if f.Tokens <= 0 {
		return fmt.Errorf("family %s: tokens %v is not positive", f.Name, f.Tokens)
	}
	for _, r := range []*Rule{f.Temperature, f.TopP, f.TopK} {
		if r != nil && !slices.Contains([]Allow{AllowAlways, AllowNever, AllowQuiet}, r.Allow) {
			return fmt.Errorf("family %s: allow %q is not known", f.Name, r.Allow)
		}
	}
	return nil
}

func (c *Catalog) checkModel(m Model) error {
	if _, ok := c.Vendor(m.Vendor); !ok {
		return fmt.Errorf("model %s/%s: no such vendor", m.Vendor, m.Name)
	}
	if _, ok := c.family(m.Family); !ok {
		return fmt.Errorf("model %s/%s: family %q is not known", m.Vendor, m.Name, m.Family)
	}
	if m.Retired != "" && !m.Retired.valid() {
		return fmt.Errorf("model %s/%s: retired %q is not a date", m.Vendor, m.Name, m.Retired)
	}
	if m.Use != "" {
		if _, ok := c.names[keyOf(m.Vendor, m.Use)]; !ok {
			return fmt.Errorf("model %s/%s: use %q is not a model", m.Vendor, m.Name, m.Use)
		}
	}
	return nil
}

// sourceTags returns the words a source may start with; data/README.md explains them.
func sourceTags() []string {
	return []string{"sdk", "spec", "doc", "list", "reading", "peer", "known", "estimate"}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return strings.TrimSuffix(word, ";")
}
