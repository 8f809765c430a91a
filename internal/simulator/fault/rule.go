// Package fault is the rules by which calls go wrong, one line each: see Parse.
package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/internal/simulator/dice"
)

// Kind is the purpose of a call, whatever the provider calls it.
type Kind string

// The kinds of calls.
const (
	Upload Kind = "upload" // bytes of requests to the provider, every step of it
	File   Kind = "file"   // looking at, listing or deleting files
	Create Kind = "create" // making a job: the call that is paid for
	Add    Kind = "add"    // adding requests to a job that exists (xAI)
	Check  Kind = "check"  // looking at one job
	List   Kind = "list"   // looking at all of them
	Fetch  Kind = "fetch"  // reading results
	Cancel Kind = "cancel"
	Delete Kind = "delete" // removing a job
	Ask    Kind = "ask"    // a live call
	Models Kind = "models" // which models there are
)

func kinds() []Kind {
	return []Kind{Upload, File, Create, Add, Check, List, Fetch, Cancel, Delete, Ask, Models}
}

// Rule is one way in which calls go wrong.
type Rule struct {
	text   string
	vendor string // "*": any
	kind   Kind   // "*": any
	effect Effect
	times  int     // most often it strikes; 0: no limit
	after  int     // calls it lets pass first
	nth    int     // the only call it strikes; 0: any
	chance float64 // of striking a call that fits
	during time.Duration
}

// String returns the rule as it was written.
func (r Rule) String() string { return r.text }

// Parse reads a rule on the calls of these vendors. It has the form
//
//	VENDOR KIND ACTION[=VALUE] [LIMIT …]
//
// such as "openai create drop-reply once" or "* ask 429=30s 20%". VENDOR is a vendor's name or *; KIND is upload, file,
// create, add, check, list, fetch, cancel, delete, ask, models or *.
//
// A rule strikes every call that fits, unless limits make that fewer:
//
//	once          the first call only            x3          at most three of them
//	nth=2         the second call only           after=2     none of the first two
//	20%           each with that chance          for=30s     within that time of the rule's making, by the simulator's clock
//
// Actions on any call:
//
//	429, 500, 529 …     the provider's own error; =30s gives it a Retry-After, =bare takes that of a 429 away
//	quota               out of money, in the words of this provider
//	revoke              the key is not good any more
//	drop                hang up before anything is done
//	drop-reply          do everything, then hang up without a word
//	slow=2s             wait before doing it
//	stall[=5s]          half the reply, then nothing: for that long, or until the client gives up
//	truncate[=50%]      that much of the reply, then hang up
//	error-200           the provider's error document under status 200
//	redirect[=URL]      send the client to another origin
//
// Actions on results (fetch, and check where results come with the job):
//
//	missing[=1] duplicate[=1] foreign[=1] malformed[=1]     so many lines of that sort
//
// Actions on what a job looks like (check; hide also list and fetch):
//
//	freeze              counts as if nothing had run         wrong-counts     one finished request is not counted
//	no-output           ended, but no result file named      blank-ids        "" instead of null for absent files
//	state=WORD          a state no one knows                 hide[=10s]       not there until it is that old
//
// Actions on the job itself (create; add at xAI):
//
//	expire[=50%]        out of time after that share         fail-lines[=10%] that share ends in provider errors
//	stuck[=1h]          never starts, or not for so long     fail[=CODE]      found invalid as a whole
//	refuse[=10%]        that share is refused (also ask)     in-order         results in the order of the requests
//	shards[=3]          results in so many files (Vertex)
//
// Actions on cancel: slow-cancel[=10m], the time until the job has really stopped.
func Parse(text string, vendors []string) (Rule, error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return Rule{}, fmt.Errorf("fault rule %q: want VENDOR KIND ACTION, such as \"openai create drop-reply once\"", text)
	}
	r := Rule{text: strings.Join(words, " "), vendor: words[0], kind: Kind(words[1]), chance: 1}
	if err := r.checkPlace(vendors); err != nil {
		return Rule{}, fmt.Errorf("fault rule %q: %w", text, err)
	}
	e, err := parseEffect(words[2], r.kind)
	if err != nil {
		return Rule{}, fmt.Errorf("fault rule %q: %w", text, err)
	}
	r.effect = e
	for _, w := range words[3:] {
		if err := r.limit(w); err != nil {
			return Rule{}, fmt.Errorf("fault rule %q: %w", text, err)
		}
	}
	return r, nil
}

func (r *Rule) checkPlace(vendors []string) error {
	names := append([]string{"*"}, vendors...)
	if !slices.Contains(names, r.vendor) {
		return fmt.Errorf("unknown vendor %q (%s)", r.vendor, hint(r.vendor, names))
	}
	words := []string{"*"}
	for _, k := range kinds() {
		words = append(words, string(k))
	}
	if !slices.Contains(words, string(r.kind)) {
		return fmt.Errorf("unknown kind of call %q (%s)", r.kind, hint(string(r.kind), words))
	}
	return nil
}

func (r *Rule) limit(w string) error {
	name, value, _ := strings.Cut(w, "=")
	n, nerr := strconv.Atoi(value)
	switch {
	case w == "once":
		r.times = 1
		return nil
	case strings.HasSuffix(w, "%"):
		share, err := parseShare(w)
		r.chance = share
		return err
	case strings.HasPrefix(w, "x"):
		times, err := strconv.Atoi(w[1:])
		if err != nil || times < 1 {
			return fmt.Errorf("limit %q: want a number of times, such as x3", w)
		}
		r.times = times
		return nil
	case name == "nth" && nerr == nil && n > 0:
		r.nth = n
		return nil
	case name == "after" && nerr == nil && n > 0:
		r.after = n
		return nil
	case name == "for":
		d, err := time.ParseDuration(value)
		r.during = d
		return err
	}
	return fmt.Errorf("unknown limit %q (want once, x3, nth=2, after=2, 20%% or for=30s)", w)
}

// Book holds the rules in force and how often each was tried.
type Book struct {
	seed  uint64
	mu    sync.Mutex
	rules []*ruleState
}

type ruleState struct {
	Rule
	since time.Time
	seen  int
	fired int
}

// NewBook holds these rules from now on. The seed decides those that strike by chance.
func NewBook(seed uint64, rules []Rule, now time.Time) *Book {
	b := &Book{seed: seed}
	b.Add(rules, now)
	return b
}

// Add adds rules.
func (b *Book) Add(rules []Rule, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range rules {
		b.rules = append(b.rules, &ruleState{Rule: r, since: now})
	}
}

// Clear removes all rules.
func (b *Book) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = nil
}

// Strike returns what goes wrong with a call.
func (b *Book) Strike(vendor string, kind Kind, now time.Time) []Effect {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Effect
	for i, r := range b.rules {
		if r.vendor != "*" && r.vendor != vendor || r.kind != "*" && r.kind != kind || !r.effect.fits(kind) {
			continue
		}
		r.seen++
		roll := dice.Mix(b.seed ^ dice.Mix(uint64(i)<<32|uint64(r.seen)))
		if !r.due(now) || dice.Chance(roll) >= r.chance {
			continue
		}
		r.fired++
		e := r.effect
		e.Roll = roll
		out = append(out, e)
	}
	return out
}

func (r *ruleState) due(now time.Time) bool {
	switch {
	case r.times > 0 && r.fired >= r.times, r.seen <= r.after, r.nth > 0 && r.seen != r.nth:
		return false
	}
	return r.during == 0 || now.Sub(r.since) < r.during
}

// Struck is a rule in force, as /sim/faults lists it.
type Struck struct {
	Rule  string `json:"rule"`
	Seen  int    `json:"seen"`
	Fired int    `json:"fired"`
}

// List lists the rules in force.
func (b *Book) List() []Struck {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []Struck{}
	for _, r := range b.rules {
		out = append(out, Struck{Rule: r.text, Seen: r.seen, Fired: r.fired})
	}
	return out
}
