// Package catalog holds dated data about vendors and models: what they take, how it goes to the wire, what it costs.
//
// The data are rows in data/*.yaml, each with a date and a source, and packed into rows.json; the code only interprets them.
// What no row has is unknown: an unknown limit is no problem, an unknown price is never 0.
package catalog

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
)

// Catalog is the data, read and checked. It never changes; With makes another one.
type Catalog struct {
	vendors  []Vendor
	apis     map[string]api
	families []Family
	models   []Model
	names    map[modelKey]int // rows of models, by name and by alias
	rows     []PriceRow
	prices   map[modelKey]Price
	guesses  guesses
	callable []toolRule

	mediaRules  []mediaRule
	mediaLimits []mediaLimits
}

// packed holds the rows as JSON: every command reads them, and reading the YAML takes it thirty times as long.
//
//go:embed rows.json
var packed []byte

var builtIn = sync.OnceValues(func() (*Catalog, error) { return Unpack(packed) })

// Default returns the catalogue that is built in.
func Default() *Catalog {
	c, err := builtIn()
	if err != nil {
		panic(err) // a test holds the packed rows against the files
	}
	return c
}

// Vendors for servers of the user's own that speak a widely copied API.
const (
	Copied     = "openai"            // the vendor whose API it is
	Compatible = "openai-compatible" // any server that speaks it, batches included
	LiveServer = "vllm"              // a server that speaks it and has no batches
)

// Vendor describes one provider of models.
type Vendor struct {
	Name          string   `yaml:"name"`
	Title         string   `yaml:"title"`
	BaseURL       string   `yaml:"base_url"` // empty: a study or the environment must name it; may hold {location}
	BaseURLEnv    string   `yaml:"base_url_env"`
	KeyEnv        []string `yaml:"key_env"` // alternatives: the first that is set wins
	KeyOptional   bool     `yaml:"key_optional"`
	KeyElse       []string `yaml:"key_else"` // variables of keys that sign calls, where no key is set
	Batch         bool     `yaml:"batch"`
	BatchDiscount float64  `yaml:"batch_discount"` // 0.5: half price
	BatchSome     bool     `yaml:"batch_some"`     // the discount holds only for models whose price row has it
	DefaultAPI    string   `yaml:"default_api"`
	APIs          []string `yaml:"apis"`
	Data          []string `yaml:"data"` // APIs whose replies are no text
	Limits        Limits   `yaml:"limits"`
	CacheMarks    bool     `yaml:"cache_marks"`
	CacheKey      bool     `yaml:"cache_key"`
	BetaHeaders   []string `yaml:"beta_headers"`  // headers that a study may set; no key is read from them
	LongOutput    LongBeta `yaml:"long_output"`   // a beta with longer answers in batches
	ServiceTiers  []string `yaml:"service_tiers"` // what a lane may ask for; "*": not checked
	AnyModel      bool     `yaml:"any_model"`     // models have names of the user's own, so that an unknown one is no surprise
	Like          string   `yaml:"like"`          // the vendor whose models, rules and prices hold here too
	Date          Date     `yaml:"date"`
	Source        string   `yaml:"source"`

	AlsoCalled  []string  `yaml:"also_called"`  // other names that people use for it: its models, its maker
	Settings    []Setting `yaml:"settings"`     // what an account there needs besides a key
	KeyForms    []string  `yaml:"key_forms"`    // how its keys begin
	OpenHeaders []string  `yaml:"open_headers"` // headers of its requests that hold no secret; a * at the end matches any ending
	DeniedHint  string    `yaml:"denied_hint"`  // what to do when it refuses the account
	HookEnv     string    `yaml:"hook_env"`     // the variable with the secret of its webhooks; empty: it sends none when a job ends
	HookTokens  HookToken `yaml:"hook_tokens"`  // of webhooks that one job is made with
	StorageEnv  string    `yaml:"storage_env"`  // the variable that names another address of the storage it reads files from
	IDPattern   string    `yaml:"id_pattern"`   // the ids that lines of its batch files may have; empty: any
	IDWords     string    `yaml:"id_words"`     // the same in words
	ModelPrefix string    `yaml:"model_prefix"` // a model whose name begins so is one of its own

	Routes      map[string]string `yaml:"routes"`       // first part of a model's name: the vendor that makes it
	NamePath    bool              `yaml:"name_path"`    // a model's name may have a path in front, such as models/
	NameDots    bool              `yaml:"name_dots"`    // a model's name has its maker in front and a place before that, each with a dot
	Fallback    string            `yaml:"fallback"`     // the family of a model that matches none
	BatchCached cachedRule        `yaml:"batch_cached"` // what cached tokens cost in a batch
	Search      *float64          `yaml:"search"`       // dollars for a thousand web searches of its own; nil: not known
	Lookup      *float64          `yaml:"lookup"`       // likewise, of searches in files
	Code        *float64          `yaml:"code"`         // likewise, of answers for which code runs, in the smallest container
	Tiers       map[string]string `yaml:"tiers"`        // service tier of a reply: "live" or "batch" prices, or another tier; others are unknown

	Carrier        assay.Carrier     `yaml:"carrier"`
	URLs           map[string]string `yaml:"urls"`         // what its lines name as the address of an API, where it is not the usual one
	ModelAtJob     bool              `yaml:"model_at_job"` // in a batch the job names the model, not the line
	MaxTokensField map[string]string `yaml:"max_tokens_field"`
	SeedField      string            `yaml:"seed_field"`
	DeveloperRole  bool              `yaml:"developer_role"`  // newer models call the system role "developer"
	Also           map[string]string `yaml:"also"`            // lane keys its default API takes besides the usual ones, and their fields
	Bars           []string          `yaml:"bars"`            // lane keys refused although the API takes them
	ReasoningApart bool              `yaml:"reasoning_apart"` // its default API counts reasoning beside the output tokens
	StopMax        int               `yaml:"stop_max"`        // most stop sequences; 0: unknown
	LikelyMax      int               `yaml:"likely_max"`      // most likely tokens it tells of a place; 0: 20
	Schema         assay.SchemaWire  `yaml:"schema"`          // the most it can promise; empty: what the model can
	Media          assay.MediaWire   `yaml:"media"`           // how it takes media, where that is not the usual way of its API
	Invoked        *invoked          `yaml:"invoked"`         // models whose own bodies go into batches where its API has no tools; nil: none
	Thinking       *ThinkingRule     `yaml:"thinking"`        // how this vendor writes thinking for every model
	Effort         []string          `yaml:"effort"`          // the efforts this vendor knows
}

// cachedRule is the rule for the price of a cached token in a batch.
type cachedRule string

const (
	cachedAsLive cachedRule = ""      // the live rate
	cachedStack  cachedRule = "stack" // the live rate and the discount on top
)

// Limits are a vendor's limits on batches. 0 means unknown, and an unknown limit is no problem.
type Limits struct {
	Requests       int           `yaml:"requests"`        // requests in one batch
	Least          int           `yaml:"least"`           // a batch of fewer requests fails
	Bytes          int64         `yaml:"bytes"`           // bytes of one batch
	LineBytes      int64         `yaml:"line_bytes"`      // bytes of one request in a batch
	InlineBytes    int64         `yaml:"inline_bytes"`    // bytes of a batch sent without a file
	InlineRequests int           `yaml:"inline_requests"` // requests of a batch sent without a file
	LiveBytes      int64         `yaml:"live_bytes"`      // bytes of one live request
	Window         time.Duration `yaml:"window"`          // the completion window to ask for
	Hours          bool          `yaml:"hours"`           // the window is written in hours, also where it is days
	Usual          time.Duration `yaml:"usual"`           // when the vendor means to be done
	Longest        time.Duration `yaml:"longest"`         // after this a job is over in any case
	Retention      time.Duration `yaml:"retention"`       // how long results can be fetched
	Lag            time.Duration `yaml:"lag"`             // how long a new job may be missing from lists
	CreatesPerHour int           `yaml:"creates_per_hour"`
	Concurrent     int           `yaml:"concurrent"`     // jobs at one time
	AllOrNothing   bool          `yaml:"all_or_nothing"` // one bad request fails the whole job, and no reply names it
	// room for files is small: they are deleted there when all is here, unless the study forbids it
	Tidy   bool   `yaml:"tidy"`
	Date   Date   `yaml:"date"`
	Source string `yaml:"source"`
}

// api describes one API, no matter which vendor offers it. Its name is also the dialect's.
type api struct {
	Name           string            `yaml:"name"`
	URL            string            `yaml:"url"`
	MaxTokensField string            `yaml:"max_tokens_field"`
	NeedsMaxTokens bool              `yaml:"needs_max_tokens"`
	MinOutput      int               `yaml:"min_output"`
	EffortField    string            `yaml:"effort_field"`
	Hottest        float64           `yaml:"hottest"` // the highest temperature, whatever the model takes; 0: not bounded
	SeedField      string            `yaml:"seed_field"`
	StoreFalse     bool              `yaml:"store_false"`
	ModelInPath    bool              `yaml:"model_in_path"`
	Data           bool              `yaml:"data"`  // its replies are no text: batch files alone may use it
	Takes          map[string]string `yaml:"takes"` // lane key: the body's field that carries it; a dot means "inside"
	Reserved       []string          `yaml:"reserved"`
	Date           Date              `yaml:"date"`
	Source         string            `yaml:"source"`
}

// Vendors lists the vendors in the order in which tables show them.
func (c *Catalog) Vendors() []Vendor { return slices.Clone(c.vendors) }

// Vendor finds a vendor by its name.
func (c *Catalog) Vendor(name string) (Vendor, bool) {
	i := slices.IndexFunc(c.vendors, func(v Vendor) bool { return v.Name == name })
	if i < 0 {
		return Vendor{}, false
	}
	return c.vendors[i], true
}

// Kind returns the vendor of a study's provider entry: its `kind`, or its own name. An entry of kind
// openai with another name and its own base URL is any server that speaks the OpenAI API, not OpenAI.
func (c *Catalog) Kind(entry, kind, baseURL string) (string, bool) {
	if kind == "" {
		kind = entry
	}
	if kind == Copied && entry != kind && baseURL != "" {
		kind = Compatible
	}
	_, ok := c.Vendor(kind)
	return kind, ok
}

// apiOf returns the API that a lane speaks: its own choice, where the vendor has that, or the vendor's default.
func (c *Catalog) apiOf(v Vendor, lane assay.Lane) api {
	if v.Has(lane.API) {
		return c.apis[lane.API]
	}
	return c.apis[v.DefaultAPI]
}

// field returns the body's field for a lane's key, and whether this vendor takes the key through this API at all.
func (a api) field(v Vendor, key string) (string, bool) {
	if slices.Contains(v.Bars, key) {
		return "", false
	}
	if f, ok := v.Also[key]; ok && a.Name == v.DefaultAPI {
		return f, true
	}
	f, ok := a.Takes[key]
	return f, ok
}

// Model describes one model of one vendor. 0 and empty mean unknown.
type Model struct {
	Vendor    string           `yaml:"vendor"`
	Name      string           `yaml:"name"`
	Aliases   []string         `yaml:"aliases"`
	Family    string           `yaml:"family"`
	ContextIn int              `yaml:"in"`  // most input tokens
	MaxOut    int              `yaml:"out"` // most output tokens
	Retired   Date             `yaml:"retired"`
	Use       string           `yaml:"use"`      // what to take instead, once it is retired
	Floating  bool             `yaml:"floating"` // an alias that moves from snapshot to snapshot
	NoBatch   bool             `yaml:"no_batch"` // refused in batches
	Schema    assay.SchemaWire `yaml:"schema"`   // where it promises less than its family
	Date      Date             `yaml:"date"`
	Source    string           `yaml:"source"`
}

// Match is the result of looking up a name.
type Match struct {
	Model    Model
	Known    bool   // there is a row for it, or for the model it is a dated snapshot of
	Snapshot string // the snapshot's date as the name writes it; empty: none
	Family   Family // its own, or the nearest one
}

// modelKey finds a row; names are compared without regard to case.
type modelKey struct{ vendor, name string }

func keyOf(vendor, name string) modelKey { return modelKey{vendor, strings.ToLower(name)} }

// Models lists the models of one vendor, newest first as far as the rows are in that order.
func (c *Catalog) Models(vendor string) []Model {
	maker := c.maker(vendor)
	var own []Model
	for _, m := range c.models {
		if m.Vendor == maker {
			m.Vendor = vendor
			own = append(own, m)
		}
	}
	return own
}

// Find looks a model up. A dated snapshot takes the row of its base model and does not float. A model without a row
// gets its name and the rules of the nearest family, with nothing else known.
func (c *Catalog) Find(vendor, model string) Match {
	v, _ := c.Vendor(vendor)
	maker, name := c.makerOf(v, model)
	base, snapshot := cutSnapshot(name)
	for _, try := range []struct{ name, snapshot string }{{name, ""}, {base, snapshot}} {
		row, ok := c.row(maker, try.name)
		if !ok {
			continue
		}
		row.Vendor = vendor
		row.Floating = row.Floating && try.snapshot == ""
		family, _ := c.family(row.Family)
		return Match{Model: row, Known: true, Snapshot: try.snapshot, Family: family}
	}
	family := c.familyOf(v, name)
	m := Model{Vendor: vendor, Name: model, Family: family.Name, Floating: floats(name), Date: family.Date, Source: family.Source}
	return Match{Model: m, Snapshot: snapshot, Family: family}
}

// row finds a row by name or alias. Some vendors write versions with a dot where others write a dash.
func (c *Catalog) row(vendor, name string) (Model, bool) {
	for _, n := range []string{name, strings.ReplaceAll(name, ".", "-")} {
		if i, ok := c.names[keyOf(vendor, n)]; ok {
			return c.models[i], true
		}
	}
	return Model{}, false
}

// maker returns the vendor under whose name a vendor's models and prices are listed.
func (c *Catalog) maker(vendor string) string {
	if v, ok := c.Vendor(vendor); ok && v.Like != "" {
		return v.Like
	}
	return vendor
}

// makerOf returns the vendor that lists a model, and the model's name there: a router's names start with the maker,
// others may start with a path.
func (c *Catalog) makerOf(v Vendor, model string) (vendor, name string) {
	if first, rest, ok := strings.Cut(model, "/"); ok && v.Routes[first] != "" {
		rest, _, _ = strings.Cut(rest, ":")
		return v.Routes[first], rest
	}
	if v.NamePath {
		model = model[strings.LastIndexByte(model, '/')+1:]
	}
	return c.maker(v.Name), model
}

var snapshotForm = regexp.MustCompile(`[-@](20\d\d-?[01]\d-?[0-3]\d)$`)

// cutSnapshot parts a model's name from the date of its snapshot, such as -2024-08-06 or -20250929.
func cutSnapshot(name string) (base, snapshot string) {
	at := snapshotForm.FindStringSubmatchIndex(name)
	if at == nil {
		return name, ""
	}
	return name[:at[0]], name[at[2]:at[3]]
}

// floats reports whether a name is a moving alias.
func floats(name string) bool {
	return strings.HasSuffix(name, "-latest") || strings.HasSuffix(name, ":latest")
}

// Nearest returns the living model nearest to a name: the model itself while it lives, the one that its row names once
// it is retired, else the one whose name is most alike. It is false when none is near.
func (c *Catalog) Nearest(vendor, model string, on Date) (Model, bool) {
	v, _ := c.Vendor(vendor)
	maker, name := c.makerOf(v, model)
	found := c.Find(maker, name)
	if same, ok := c.reordered(maker, name); ok && !found.Known {
		found = c.Find(maker, same.Name)
	}
	for range len(c.models) { // a replacement may itself be retired
		if !found.Known || !found.Model.Retired.Reached(on) || found.Model.Use == "" {
			break
		}
		found = c.Find(maker, found.Model.Use)
	}
	near, ok := found.Model, found.Known && !found.Model.Retired.Reached(on)
	if !ok {
		near, ok = c.alike(maker, name, on)
	}
	if ok && maker != c.maker(vendor) { // a router puts the maker's name in front
		first, _, _ := strings.Cut(model, "/")
		near.Name = first + "/" + near.Name
	}
	if !ok {
		return Model{}, false
	}
	near.Vendor = vendor
	return near, true
}

// Reordered returns the model whose name has the same words as an unknown one, in another order or with other marks between
// them, as claude-haiku-3.5 has those of claude-3-5-haiku.
func (c *Catalog) Reordered(vendor, model string) (Model, bool) {
	v, _ := c.Vendor(vendor)
	return c.reordered(c.makerOf(v, model))
}

func (c *Catalog) reordered(maker, name string) (Model, bool) {
	words := wordsOf(name)
	for _, m := range c.Models(maker) {
		if slices.Equal(wordsOf(m.Name), words) {
			return m, true
		}
	}
	return Model{}, false
}

// wordsOf returns the words of a model's name, sorted.
func wordsOf(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-._ ", r) })
	slices.Sort(words)
	return words
}

// alike returns the living model whose name is nearest by letters.
func (c *Catalog) alike(vendor, model string, on Date) (Model, bool) {
	living := slices.DeleteFunc(c.Models(vendor), func(m Model) bool {
		family, _ := c.family(m.Family)
		return m.Retired.Reached(on) || family.NoAnswers
	})
	var names []string
	for _, m := range living {
		names = append(names, m.Name)
	}
	name, ok := assay.Closest(model, names)
	if !ok {
		return Model{}, false
	}
	return living[slices.Index(names, name)], true
}
