package batchfile

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/dialect/asked"
	"assay/internal/study/catalog"
)

// Router turns requests in OpenAI's form into requests to the providers that their models name. A body for an API that
// the provider has goes out unchanged but for the provider's name of the model; any other is converted. A request that
// a model would refuse, or that its provider cannot express, is a Refusal: nothing is dropped silently.
type Router struct {
	Catalog *catalog.Catalog
	API     string // that all requests are for: chat or responses
	Today   catalog.Date
	Live    bool                        // the requests are asked live, one by one
	Ready   func(provider string) error // why a provider cannot be used here; nil: it can
	Priced  bool                        // requests whose price is not known are refused
}

// Refusal is a request that is not sent, in the terms of OpenAI's errors.
type Refusal struct {
	Line    int    `json:"line,omitempty"` // in the file, from 1
	ID      string `json:"custom_id,omitempty"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Param   string `json:"param,omitempty"`
	Message string `json:"message"`
}

// Error returns its message.
func (r *Refusal) Error() string { return r.Message }

func refuse(status int, code, param, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Code: code, Param: param, Message: assay.Clean(fmt.Sprintf(format, args...), maxRefusal)}
}

const maxRefusal = 500

// Destination is where a request goes, and how.
type Destination struct {
	Lane   assay.Lane // its name is PROVIDER/MODEL, with the API if the request is sent unchanged
	Wire   assay.Wire
	Body   []byte
	Prompt int // bytes of what the model is shown
	Limit  int // output tokens; 0: none

	Dropped []string // members of the body that were left out, as the client wished
	OneCall bool     // the client wants one call of a tool at most, and the provider has no switch for that: the first is given
}

// Route makes one request. The body is a JSON object.
func (r *Router) Route(body []byte) (Destination, *Refusal) {
	e := Entry{API: r.API, Body: body}
	if f := readBody(&e); f != nil {
		return Destination{}, refuse(400, cmp.Or(f.code, "invalid_request"), f.param, "%s", f.what)
	}
	return r.route(&e)
}

// route makes a request, and once more without what is refused, where its client wishes that.
func (r *Router) route(e *Entry) (Destination, *Refusal) {
	drop, err := lenient(e)
	if err != nil {
		return Destination{}, refuse(400, "invalid_request", leniency, "%s", err)
	}
	var dropped []string
	for {
		d, bad := r.once(e)
		if d.Dropped = dropped; bad == nil {
			return d, nil
		}
		bad.Param = asClient(e.Body, bad.Param)
		name := spare(e.Body, bad)
		if !drop || name == "" || e.leave(name) != nil {
			return d, bad
		}
		dropped = append(dropped, name)
	}
}

func (r *Router) once(e *Entry) (Destination, *Refusal) {
	if e.Model == "" {
		return Destination{}, refuse(400, "missing_required_parameter", "model", "you must provide a model parameter")
	}
	v, model, bad := r.vendor(e.Model)
	if bad != nil {
		return Destination{}, bad
	}
	if err := r.Ready(v.Name); err != nil {
		return Destination{}, refuse(400, "provider_not_configured", "model", "this gateway cannot reach %s: %s", v.Name, err)
	}
	mode := assay.ModeBatch
	if r.Live || !v.Batch {
		mode = assay.ModeLive
	}
	d := Destination{Lane: assay.Lane{Provider: v.Name, Model: model, Mode: mode}, Prompt: e.Prompt, Limit: e.Params.MaxTokens}
	if price, ok := r.Catalog.Price(v.Name, model); r.Priced &&
		(!ok || !price.Bill(assay.Usage{Known: true, Input: 1, Output: 1}, catalog.Billing{Mode: mode}).Known()) {
		return d, refuse(400, "price_unknown", "model", "the price of %s is not known, so it cannot be held against a budget", e.Model)
	}
	if bad := r.unbounded(e); bad != nil {
		return d, bad
	}
	if slices.Contains(v.APIs, r.API) {
		return r.pass(e, v, d)
	}
	return r.convert(e, v, d)
}

// unbounded returns what keeps the price of a request from being known beforehand, where a budget needs it.
func (r *Router) unbounded(e *Entry) *Refusal {
	if !r.Priced {
		return nil
	}
	if _, field := serverTools(e.Body, false); field != "" {
		return refuse(400, "unsupported_value", field,
			"under a budget a request has no tools that its provider runs: what they cost and find is not known before")
	}
	switch tier := e.Params.ServiceTier; {
	case e.several:
		return refuse(400, "unsupported_value", "n", "under a budget a request asks for one answer: n is 1")
	case tier != "" && tier != "auto" && tier != "default" && tier != "flex":
		return refuse(400, "unsupported_value", "service_tier", "under a budget service_tier is auto, default or flex")
	}
	return nil
}

// vendor returns the provider that a model's name means, and the model's name there: PROVIDER/MODEL, or a model of the catalogue,
// at the first vendor that has it and can be used here.
func (r *Router) vendor(name string) (catalog.Vendor, string, *Refusal) {
	if first, rest, ok := strings.Cut(name, "/"); ok && rest != "" {
		if v, known := r.Catalog.Vendor(ProviderName(r.Catalog, first)); known {
			return v, rest, nil
		}
	}
	var found []catalog.Vendor
	for _, v := range r.Catalog.Vendors() {
		if v.AnyModel || v.Like != "" || !r.Catalog.Serves(v, name) {
			continue
		}
		if r.Ready(v.Name) == nil {
			return v, name, nil
		}
		found = append(found, v)
	}
	if len(found) > 0 {
		return found[0], name, nil
	}
	return catalog.Vendor{}, "",
		refuse(404, "model_not_found", "model", "the model %q is not known here: write PROVIDER/MODEL", assay.Clean(name, 100))
}

// pass sends a body unchanged, under the provider's name of the model.
func (r *Router) pass(e *Entry, v catalog.Vendor, d Destination) (Destination, *Refusal) {
	d.Lane.API, d.Lane.Params = r.API, e.Params
	if bad := r.illegal(d.Lane, v); bad != nil {
		return d, bad
	}
	if e.oldLimit && r.Catalog.Find(v.Name, d.Lane.Model).Family.Developer && v.MaxTokensField["chat"] == "max_completion_tokens" {
		return d, refuse(400, "unsupported_parameter", "max_tokens",
			"unsupported parameter: %s takes max_completion_tokens, not max_tokens", d.Lane.Model)
	}
	d.Wire = r.Catalog.Wire(d.Lane, v.Name, d.Lane.Mode)
	d.Lane.Params = assay.Params{} // they are in the body
	d.Lane.Name = v.Name + "/" + d.Lane.Model
	var err error
	if d.Body, err = dialect.AppendModel(nil, e.Body, d.Lane.Model); err != nil {
		return d, refuse(400, "invalid_request", "", "%s", err)
	}
	return d, nil
}

// convert makes a request of another API.
func (r *Router) convert(e *Entry, v catalog.Vendor, d Destination) (Destination, *Refusal) {
	read, err := asked.Read(dialectOf(r.API), e.Body)
	if err != nil {
		return d, refuse(400, "unsupported_value", unread(e.Body, err), "it cannot be sent to %s: %s", v.Name, err)
	}
	lost := slices.DeleteFunc(read.Lost, func(name string) bool { return aside(name) || name == "include" && sealed(e.Body) })
	if len(lost) > 0 {
		return d, refuse(400, "unsupported_parameter", lost[0], "unsupported parameter: %s has no place at %s",
			strings.Join(lost, ", "), v.Name)
	}
	if one := read.Params.Parallel; d.Lane.Mode == assay.ModeLive && one != nil &&
		(v.DefaultAPI == "generate" || v.DefaultAPI == "converse") {
		d.OneCall, read.Params.Parallel = !*one, nil
	}
	d.Lane.API, d.Lane.Params = v.DefaultAPI, read.Params
	if tier := read.Params.ServiceTier; tier == "auto" || tier == "default" {
		d.Lane.Params.ServiceTier = ""
	} else if tier != "" {
		return d, refuse(400, "unsupported_value", "service_tier", "service_tier %q has another meaning at %s",
			assay.Clean(tier, 40), v.Name)
	}
	d.Lane.Params = r.Catalog.EffortAsThinking(d.Lane, v.Name)
	bad := r.illegal(d.Lane, v)
	if bad != nil && bad.Param == "thoughts" { // a summary of what is not thought is none
		d.Lane.Params.Thoughts = false
		bad = r.illegal(d.Lane, v)
	}
	if bad != nil {
		return d, bad
	}
	d.Lane.Params = r.Catalog.Effective(d.Lane, v.Name)
	d.Wire = r.Catalog.Wire(d.Lane, v.Name, d.Lane.Mode)
	d.Wire.CacheMarks, d.Wire.CacheKey = false, false // what is cached costs, and was not asked for
	d.Limit = d.Lane.Params.MaxTokens
	req := &assay.Request{Lane: &d.Lane, Wire: &d.Wire, Prompt: &read.Prompt}
	d.Body, err = dialect.AppendBody(nil, req)
	if err == nil && d.Lane.Mode == assay.ModeBatch && len(d.Lane.Params.Tools) > 0 { // some take them live alone
		_, err = dialect.AppendLine(nil, "", req)
	}
	if err != nil {
		return d, refuse(400, "unsupported_parameter", placeless(err), "it cannot be sent to %s: %s", v.Name, err)
	}
	d.Lane.Params = assay.Params{}
	d.Lane.Name = v.Name + "/" + d.Lane.Model
	if api := string(d.Wire.Dialect); api != d.Lane.API && v.Invoked != nil { // its lines are of another form, and so is its job
		d.Lane.API, d.Lane.Name = api, d.Lane.Name+"@"+api
	}
	return d, nil
}

// illegal returns the first parameter that the model would refuse.
func (r *Router) illegal(lane assay.Lane, v catalog.Vendor) *Refusal {
	for _, i := range r.Catalog.Check(lane, v.Name, r.Today) {
		if i.Warning {
			continue
		}
		if i.Param == "model" {
			return refuse(404, "model_not_found", "model", "%s", i.What)
		}
		return refuse(400, "unsupported_value", i.Param, "%s", i.What)
	}
	return nil
}

// Routed is a file whose requests were made into those of providers.
type Routed struct {
	File    File
	Broken  []Refusal // lines that make the file unfit to be sent
	Refused []Refusal // requests that are not sent; the others are
}

// File routes every line of an OpenAI batch file and writes those that can be sent.
func (r *Router) File(ctx context.Context, name string, most int, in io.Reader, out io.Writer) (*Routed, error) {
	w := &routing{Router: r, most: most, ids: map[string]int{},
		routed: &Routed{File: File{Name: name, Mode: assay.ModeBatch, Shape: ShapeCall, Routed: true}}}
	sum := sha256.New()
	w.out = bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<20)
	for l, err := range lines(&stoppable{ctx, in}) {
		if err != nil {
			return nil, err
		}
		if goOn, err := w.line(l); err != nil {
			return nil, err
		} else if !goOn {
			break
		}
	}
	if w.lines == 0 {
		w.broken(1, refuse(400, "empty_file", "", "the file has no lines"))
	}
	if err := w.out.Flush(); err != nil {
		return nil, err
	}
	w.routed.File.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return w.routed, nil
}

// routing is one walk over a file.
type routing struct {
	*Router
	most   int // lines
	lines  int
	ids    map[string]int // line of each
	routed *Routed
	meters []*Meter
	out    *bufio.Writer
}

// maxBroken is how many broken lines are reported.
const maxBroken = 100

func (w *routing) broken(line int, bad *Refusal) bool {
	bad.Line = line
	w.routed.Broken = append(w.routed.Broken, *bad)
	return len(w.routed.Broken) < maxBroken
}

// line routes one line. It is false when going on makes no sense.
func (w *routing) line(l line) (bool, error) {
	if w.lines++; w.lines > w.most {
		w.broken(l.no, refuse(400, "too_many_tasks", "", "the file has more than %s requests", assay.Thousands(int64(w.most))))
		return false, nil
	}
	e, f := read(l)
	switch first := w.ids[e.ID]; {
	case f != nil && !f.body:
		return w.broken(l.no, refuse(400, cmp.Or(f.code, "invalid_request"), f.param, "%s", f.what)), nil
	case e.API != w.API:
		return w.broken(l.no, refuse(400, "invalid_url", "url", "the url of the line is not the endpoint of the batch")), nil
	case first > 0:
		return w.broken(l.no, refuse(400, "duplicate_custom_id", "custom_id", "the custom_id %s also stands on line %d",
			strconv.Quote(assay.Clean(e.ID, 80)), first)), nil
	}
	w.ids[e.ID] = l.no
	if f != nil {
		return true, w.refused(e, refuse(400, cmp.Or(f.code, "invalid_request"), f.param, "%s", f.what))
	}
	d, bad := w.route(&e)
	if bad != nil {
		return true, w.refused(e, bad)
	}
	return true, w.add(e, d)
}

func (w *routing) refused(e Entry, bad *Refusal) error {
	bad.Line, bad.ID = e.Line, e.ID
	w.routed.Refused = append(w.routed.Refused, *bad)
	return nil
}

// add counts a request in its lane and writes it.
func (w *routing) add(e Entry, d Destination) error {
	f := &w.routed.File
	i := slices.IndexFunc(f.Lanes, func(l Lane) bool { return l.Name == d.Lane.Name })
	if i < 0 {
		if len(f.Lanes) == maxLanes {
			return w.refused(e, refuse(400, "too_many_models", "model", "the file names more than %d models", maxLanes))
		}
		i = len(f.Lanes)
		f.Lanes = append(f.Lanes, Lane{Lane: d.Lane})
		w.meters = append(w.meters, NewMeter(w.Catalog, d.Lane.Provider, d.Lane, d.Lane.Mode))
	}
	l := &f.Lanes[i]
	expected, high := w.meters[i].Estimate(d.Body, d.Prompt, d.Limit)
	l.Requests, l.Bytes, l.Expected, l.High = l.Requests+1, l.Bytes+int64(len(d.Body)), l.Expected.Add(expected), l.High.Add(high)
	f.Requests++
	head, err := json.Marshal(routedLine{ID: e.ID, Line: e.Line, Lane: d.Lane.Name, Prompt: d.Prompt, Limit: d.Limit})
	if err != nil {
		return err
	}
	n, err := fmt.Fprintf(w.out, "%s%s%s}\n", head[:len(head)-1], routedBody, d.Body)
	f.Bytes += int64(n)
	return err
}

// routedBody precedes the body, which is the last member of its line.
const routedBody = `,"body":`

type routedLine struct {
	ID     string          `json:"custom_id"`
	Line   int             `json:"line"`
	Lane   string          `json:"lane"`
	Prompt int             `json:"prompt"`
	Limit  int             `json:"limit"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// routedEntries walks over what a Router wrote.
func routedEntries(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for l, err := range lines(r) {
			var row routedLine
			if err == nil {
				err = json.Unmarshal(l.text, &row)
			}
			if err == nil && row.Body == nil {
				err = errors.New("it has no body")
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("line %d: %w", l.no, err))
				return
			}
			e := Entry{Line: row.Line, ID: row.ID, Lane: row.Lane, Body: row.Body, Prompt: row.Prompt,
				Params: assay.Params{MaxTokens: row.Limit}, Offset: l.offset + int64(len(l.text)-1-len(row.Body))}
			if !yield(e, nil) {
				return
			}
		}
	}
}
