package batchfile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// Options are the settings of a check.
type Options struct {
	Name     string // of the file, for messages
	Provider string // as its user calls it; empty: recognised from the lines
	Kind     string // the vendor whose rules hold; empty: the provider's own
	Model    string // for lines that name none
	Mode     assay.Mode
	Catalog  *catalog.Catalog
	Today    catalog.Date
}

// File describes a checked file.
type File struct {
	Name     string
	Provider string
	Kind     string
	Model    string // for lines that name none
	Mode     assay.Mode
	Shape    Shape
	Numbered bool // the lines have no ids: their numbers are used
	Routed   bool `json:",omitempty"` // a Router wrote it: its lanes have providers of their own
	Requests int64
	Bytes    int64
	SHA256   string // of the whole file
	Lanes    []Lane
}

// Lane is the requests of a file that go to one model through one API. One batch never mixes models.
type Lane struct {
	assay.Lane
	Requests       int64
	Bytes          int64 // of bodies
	Expected, High assay.Cost
}

// Wire returns how the lane's requests travel.
func (f *File) Wire(c *catalog.Catalog, l assay.Lane, mode assay.Mode) assay.Wire {
	w := c.Wire(l, f.KindOf(l), mode)
	if mode == assay.ModeLive {
		w.Carrier = ""
	}
	return w
}

// KindOf returns the vendor whose rules hold for a lane.
func (f *File) KindOf(l assay.Lane) string { return cmp.Or(f.Kind, l.Provider) }

// Check reads a file from end to end and returns everything that is wrong with it, by line. Nothing of it is held. The file
// is nil when it cannot be sent.
func Check(ctx context.Context, open func() (io.ReadCloser, error), o Options) (*File, assay.Problems, error) {
	r, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	k := &checker{Options: o, f: newFindings(o.Name), ids: newDuplicates(), sum: sha256.New(), seen: map[string]verdict{},
		file: &File{Name: o.Name, Provider: o.Provider, Kind: o.Kind, Model: o.Model, Mode: o.Mode}}
	for l, err := range lines(io.TeeReader(&stoppable{ctx, r}, k)) {
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", o.Name, err)
		}
		if !k.line(l) {
			break
		}
	}
	if k.lines == 0 {
		k.f.add(0, "", "the file has no lines")
	}
	if k.keyed > 0 && k.keyless > 0 {
		k.f.add(k.firstKeyless, "give every line its own key, or none", fmt.Sprintf("the line has no key, and %d others have one", k.keyed))
	}
	if len(k.ids.met) > 0 {
		if err := k.again(ctx, open); err != nil {
			return nil, nil, err
		}
	}
	k.file.Numbered = k.keyless > 0
	k.file.SHA256 = hex.EncodeToString(k.sum.Sum(nil))
	if k.f.failed() {
		return nil, k.f.problems(), nil
	}
	return k.file, k.f.problems(), nil
}

func (k *checker) again(ctx context.Context, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	return k.ids.report(&stoppable{ctx, r}, k.f)
}

// checker is one walk over a file.
type checker struct {
	Options
	file    *File
	vendor  catalog.Vendor
	f       *findings
	ids     *duplicates
	sum     hash.Hash
	lines   int
	seen    map[string]verdict // issues by model and parameters
	meters  []*Meter
	settled bool // the provider is known

	keyed, keyless, firstKeyless int
}

// verdict is the catalogue's check of parameters.
type verdict struct{ issues []catalog.Issue }

// maxSeen bounds the kinds of parameters whose verdict is kept.
const maxSeen = 4096

// maxLanes bounds the models of one file.
const maxLanes = 200

// Write takes the bytes of the file as they are read.
func (k *checker) Write(p []byte) (int, error) {
	k.file.Bytes += int64(len(p))
	return k.sum.Write(p)
}

// line checks one line. It is false when going on makes no sense.
func (k *checker) line(l line) bool {
	k.lines++
	e, flaw := read(l)
	if flaw != nil {
		k.f.add(l.no, flaw.hint, flaw.what)
		return k.lines > 1 || k.settled || l.text[0] == '{'
	}
	if !k.settled && !k.settle(e) {
		return false
	}
	k.identify(e)
	if e.Shape != k.file.Shape {
		k.f.add(l.no, "one file, one form",
			fmt.Sprintf("the line has the form %s, the first has %s", e.Shape.words(), k.file.Shape.words()))
		return true
	}
	named := e.Model != ""
	if !named {
		e.Model = k.Model
	}
	if e.Model == "" {
		k.f.add(l.no, "say it with --model", "the line names no model")
		return true
	}
	if k.Mode == assay.ModeLive && !named && e.API != "generate" && e.API != "converse" {
		k.f.add(l.no, "a live call has no other place for it", "the body names no model")
	}
	k.file.Requests++
	k.rules(e)
	k.size(e, l)
	return k.count(e)
}

// settle decides, by the first good line, which provider the file is for.
func (k *checker) settle(e Entry) bool {
	k.settled, k.file.Shape = true, e.Shape
	if e.Model == "" {
		e.Model = k.Model
	}
	if k.file.Provider == "" {
		name, candidates := recognise(k.Catalog, e)
		if name == "" {
			k.f.add(e.Line, "say it with --provider", fmt.Sprintf("the line may be meant for %s", few(candidates)))
			return false
		}
		k.file.Provider = name
	}
	if k.file.Kind == "" {
		k.file.Kind = k.file.Provider
	}
	var ok bool
	if k.vendor, ok = k.Catalog.Vendor(k.file.Kind); !ok {
		k.f.add(0, "assay list models lists them", fmt.Sprintf("no provider is called %q", k.file.Provider))
		return false
	}
	want := ShapeOf(k.vendor)
	if e.Shape != want {
		hint := ""
		if name, _ := recognise(k.Catalog, e); name != "" {
			hint = "is it meant for " + name + "?"
		}
		k.f.add(e.Line, hint, fmt.Sprintf("the line has the form %s, %s takes %s", e.Shape.words(), k.file.Provider, want.words()))
		return false
	}
	if !k.vendor.Has(e.API) {
		k.f.add(e.Line, "", fmt.Sprintf("%s has no %s api", k.file.Provider, e.API))
		return false
	}
	return true
}

func (k *checker) identify(e Entry) {
	if e.ID != "" {
		k.keyed++
		k.ids.see(e.ID)
		return
	}
	if k.keyless++; k.keyless == 1 {
		k.firstKeyless = e.Line
	}
}

// rules holds a line's model and parameters against the catalogue; what was judged before is not judged again.
func (k *checker) rules(e Entry) {
	id := fmt.Sprint(e.Model, e.API, e.oldLimit, value(e.Params.Temperature), value(e.Params.TopP), value(e.Params.TopK),
		e.Params.MaxTokens, e.Params.Effort, e.Params.Thinking, len(e.Params.Stop), e.Params.Seed != nil, e.Params.ServiceTier)
	v, ok := k.seen[id]
	if !ok {
		v = k.judge(e)
		if len(k.seen) < maxSeen {
			k.seen[id] = v
		}
	}
	for _, issue := range v.issues {
		if issue.Warning {
			k.f.warn(e.Line, issue.Hint, issue.What)
		} else {
			k.f.add(e.Line, issue.Hint, issue.What)
		}
	}
}

// value returns a number, or nothing.
func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func (k *checker) judge(e Entry) verdict {
	lane := laneOf(k.file.Provider, e.Model, e.Model, e.API)
	lane.Params, lane.Mode = e.Params, k.Mode
	if slices.Contains(k.vendor.Data, e.API) { // its rules are the provider's
		return verdict{}
	}
	issues := k.Catalog.Check(lane, k.file.Kind, k.Today)
	found := k.Catalog.Find(k.file.Kind, e.Model)
	if e.oldLimit && found.Family.Developer && k.vendor.MaxTokensField["chat"] == "max_completion_tokens" {
		issues = append(issues, catalog.Issue{Param: "max_tokens", What: e.Model + " takes max_completion_tokens, not max_tokens",
			Hint: "rename it"})
	}
	if others := elsewhere(k.Catalog, k.vendor, e.Shape, e.Model); len(others) > 0 {
		issues = append(issues, catalog.Issue{Param: "model", What: fmt.Sprintf("%s is not a model of %s", e.Model, k.file.Provider),
			Hint: "it is one of " + strings.Join(others, " and ")})
	}
	return verdict{issues}
}

// size holds one request against the provider's limits.
func (k *checker) size(e Entry, l line) {
	limits := k.vendor.Limits
	most := limits.LineBytes
	if most == 0 || limits.Bytes > 0 && limits.Bytes < most {
		most = limits.Bytes
	}
	if k.Mode == assay.ModeLive {
		most = limits.LiveBytes
	}
	const around = 200 // the id and the names around the body
	if n := int64(len(l.text)); most > 0 && n+around > most {
		k.f.add(e.Line, "", fmt.Sprintf("the request has %d bytes, %s takes %d", n, k.file.Provider, most))
	}
}

// count adds a request to its lane.
func (k *checker) count(e Entry) bool {
	i := slices.IndexFunc(k.file.Lanes, func(l Lane) bool { return l.Model == e.Model && l.API == e.API })
	if i < 0 {
		if len(k.file.Lanes) == maxLanes {
			k.f.add(e.Line, "", fmt.Sprintf("the file names more than %d models", maxLanes))
			return false
		}
		i = len(k.file.Lanes)
		lane := Lane{Lane: laneOf(k.file.Provider, k.file.laneName(e), e.Model, e.API)}
		k.file.Lanes = append(k.file.Lanes, lane)
		meter := NewMeter(k.Catalog, k.file.Kind, lane.Lane, k.Mode)
		meter.Marked = true
		k.meters = append(k.meters, meter)
	}
	l := &k.file.Lanes[i]
	expected, high := k.meters[i].Estimate(e.Body, e.Prompt, e.Params.MaxTokens)
	l.Requests, l.Bytes, l.Expected, l.High = l.Requests+1, l.Bytes+int64(len(e.Body)), l.Expected.Add(expected), l.High.Add(high)
	return true
}

// laneName returns the model's, with the API where the same model is asked through two.
func (f *File) laneName(e Entry) string {
	if slices.ContainsFunc(f.Lanes, func(l Lane) bool { return l.Name == e.Model }) {
		return e.Model + "@" + e.API
	}
	return e.Model
}

// Entries walks over the requests of a file that was checked.
func (f *File) Entries(r io.Reader) iter.Seq2[Entry, error] {
	if f.Routed {
		return routedEntries(r)
	}
	return func(yield func(Entry, error) bool) {
		for l, err := range lines(r) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e, flaw := read(l)
			if flaw != nil {
				yield(e, fmt.Errorf("line %d: %s", l.no, flaw.what))
				return
			}
			if e.Model == "" {
				e.Model = f.Model
			}
			if f.Numbered {
				e.ID = strconv.Itoa(e.Line)
			}
			i := slices.IndexFunc(f.Lanes, func(l Lane) bool { return l.Model == e.Model && l.API == e.API })
			if i < 0 {
				yield(e, fmt.Errorf("line %d: the file was changed", l.no))
				return
			}
			e.Lane = f.Lanes[i].Name
			if !yield(e, nil) {
				return
			}
		}
	}
}

// stoppable is a reader that ends with its context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// few lists the first of many names.
func few(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others (`assay list keys` lists them)", strings.Join(names[:most-2], ", "), len(names)-most+2)
}
