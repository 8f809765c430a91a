package catalog

import (
	"slices"
	"time"

	"assay/internal/assay"
)

// Vendors that stand for servers of the user's own which speak an API that many copied.
const (
	Copied     = "openai"            // the vendor whose API it is
	Compatible = "openai-compatible" // any server that speaks it, batches included
	LiveServer = "vllm"              // a server that speaks it and has no batches
)

// Vendor is what is known about one provider of models.
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
	BatchSome     bool     `yaml:"batch_some"`     // the discount holds only for models whose price row says so
	DefaultAPI    string   `yaml:"default_api"`
	APIs          []string `yaml:"apis"`
	Limits        Limits   `yaml:"limits"`
	CacheMarks    bool     `yaml:"cache_marks"`
	CacheKey      bool     `yaml:"cache_key"`
	ServiceTiers  []string `yaml:"service_tiers"` // what a lane may ask for; "*": not checked
	AnyModel      bool     `yaml:"any_model"`     // models have names of the user's own, so that an unknown one is no surprise
	Like          string   `yaml:"like"`          // the vendor whose models, rules and prices hold here too
	Date          Date     `yaml:"date"`
	Source        string   `yaml:"source"`
	Unverified    bool     `yaml:"unverified"` // what is known is its documentation's word, with gaps: no call was seen

	AlsoCalled  []string  `yaml:"also_called"`  // other names that people use for it: its models, its maker
	Settings    []Setting `yaml:"settings"`     // what an account there needs besides a key
	KeyForms    []string  `yaml:"key_forms"`    // how its keys begin
	OpenHeaders []string  `yaml:"open_headers"` // headers of its requests that hold no secret; a * at the end stands for any ending
	DeniedHint  string    `yaml:"denied_hint"`  // what to do when it refuses the account
	StorageEnv  string    `yaml:"storage_env"`  // the variable that names another address of the storage it reads files from
	IDPattern   string    `yaml:"id_pattern"`   // the ids that lines of its batch files may have; empty: any
	IDWords     string    `yaml:"id_words"`     // the same in words
	ModelPrefix string    `yaml:"model_prefix"` // a model whose name begins so is one of its own

	Routes      map[string]string `yaml:"routes"`       // first part of a model's name: the vendor that makes it
	NamePath    bool              `yaml:"name_path"`    // a model's name may have a path in front, such as models/
	NameDots    bool              `yaml:"name_dots"`    // a model's name has its maker in front and a place before that, each with a dot
	Fallback    string            `yaml:"fallback"`     // the family of a model that matches none
	BatchCached cachedRule        `yaml:"batch_cached"` // what cached tokens cost in a batch
	Tiers       map[string]string `yaml:"tiers"`        // service tier of a reply: "live" or "batch" prices; others are unknown

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
	Schema         assay.SchemaWire  `yaml:"schema"`          // the most it can promise; empty: what the model can
	Thinking       *ThinkingRule     `yaml:"thinking"`        // how this vendor writes thinking for every model
	Effort         []string          `yaml:"effort"`          // the efforts this vendor knows
}

// cachedRule says what a cached token costs in a batch.
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
	AllOrNothing   bool          `yaml:"all_or_nothing"` // one bad request fails the whole job, and no reply says which
	Tidy           bool          `yaml:"tidy"`           // room for files is small: they are deleted there when all is here, unless the study says no
	Date           Date          `yaml:"date"`
	Source         string        `yaml:"source"`
}

// api is what one API takes, no matter which vendor offers it. Its name is also the dialect's.
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
	Takes          map[string]string `yaml:"takes"` // lane key: the body's field that carries it; a dot stands for "inside"
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

// Kind is the vendor that a study's provider entry stands for: its `kind`, or its own name. An entry of kind openai with
// another name and its own base URL is any server that speaks the OpenAI API, not OpenAI.
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

// apiOf is the API that a lane speaks: its own choice, where the vendor has that, or the vendor's default.
func (c *Catalog) apiOf(v Vendor, lane assay.Lane) api {
	if slices.Contains(v.APIs, lane.API) {
		return c.apis[lane.API]
	}
	return c.apis[v.DefaultAPI]
}

// field is the body's field for a lane's key, and whether this vendor takes the key through this API at all.
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
