package batchfile

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/dialect/asked"
	"assay/internal/study/catalog"
)

// Conversion turns the requests of a file into another provider's. What that has no place for is reported, and nothing is left out
// unless that is allowed.
type Conversion struct {
	Catalog   *catalog.Catalog
	From      *File
	Provider  string // the one that gets them, as its user calls it
	Vendor    catalog.Vendor
	API       string            // chat or responses, where the vendor has both; empty: its default
	Models    map[string]string // what a model becomes; under the empty name, what all others do
	MaxTokens int               // for requests without an output limit; 0: what the vendor demands
	Drop      bool              // parameters that have no place are left out
	Today     catalog.Date

	AtJob string // the model that the job names, where the lines do not: known after Check
}

// Check converts every request without writing it, and returns what is wrong by line. What is left out is a warning.
func (c *Conversion) Check(ctx context.Context, r io.Reader) (assay.Problems, error) {
	f, ids, models := newFindings(c.From.Name), c.Vendor.IDs(), map[string]bool{}
	var line []byte
	for e, err := range c.From.Entries(&stoppable{ctx, r}) {
		if err != nil {
			return nil, err
		}
		req := c.convert(e, func(hint, what string, warning bool) { f.put(e.Line, hint, what, warning) })
		if req == nil {
			continue
		}
		c.checkID(e, ids, f)
		models[req.Lane.Model] = true
		if line, err = dialect.AppendLine(line[:0], e.ID, req); err != nil {
			f.add(e.Line, "", err.Error())
		} else if most := c.Vendor.Limits.LineBytes; most > 0 && int64(len(line)) > most {
			f.add(e.Line, "", fmt.Sprintf("the request becomes larger than the %s bytes that %s takes", assay.Thousands(most), c.Provider))
		}
		if req.Wire.ModelInBody {
			continue
		}
		if c.AtJob = req.Lane.Model; len(models) > 1 {
			f.add(e.Line, "name one model for all: --to "+c.Provider+"/MODEL",
				fmt.Sprintf("a file for %s is for one model, and this line is for another", c.Provider))
		}
	}
	return f.problems(), nil
}

func (c *Conversion) checkID(e Entry, ids *regexp.Regexp, f *findings) {
	if ids != nil && !ids.MatchString(e.ID) {
		f.add(e.Line, "", fmt.Sprintf("the id %s: %s takes %s", strconv.Quote(assay.Clean(e.ID, 80)), c.Provider, c.Vendor.IDWords))
	}
}

// Write writes all requests under their ids, and closes the writer. It is for what Check found nothing wrong with.
func (c *Conversion) Write(ctx context.Context, r io.Reader, out *Writer) error {
	for e, err := range c.From.Entries(&stoppable{ctx, r}) {
		if err != nil {
			return err
		}
		var wrong string
		req := c.convert(e, func(_, what string, warning bool) {
			if !warning {
				wrong = what
			}
		})
		if req == nil || wrong != "" {
			return fmt.Errorf("line %d: %s", e.Line, wrong)
		}
		if err := out.Add(e.ID, req); err != nil {
			return err
		}
	}
	return out.Close()
}

// convert makes one request; nil if it cannot be.
func (c *Conversion) convert(e Entry, report func(hint, what string, warning bool)) *assay.Request {
	if e.API == "embeddings" || e.API == "moderations" || e.API == "ocr" {
		report("", "a request of "+e.API+" is not converted", false)
		return nil
	}
	read, err := asked.Read(dialectOf(e.API), e.Body)
	if err != nil {
		report("", "it cannot be told to "+c.Provider+": "+err.Error(), false)
		return nil
	}
	lane := assay.Lane{Provider: c.Provider, API: c.API, Mode: assay.ModeBatch, Params: read.Params}
	if lane.Model = c.model(e.Model); lane.Model == "" {
		report(fmt.Sprintf("--to %s/MODEL for all, or --model %s=MODEL", c.Provider, e.Model),
			fmt.Sprintf("no model of %s is called %q", c.Provider, assay.Clean(e.Model, 80)), false)
		return nil
	}
	lane.Name = lane.Model
	if lane.Params.MaxTokens == 0 {
		lane.Params.MaxTokens = c.MaxTokens
	}
	lose := func(name, why string) {
		if c.Drop {
			report("", "left out: "+name+why, true)
		} else {
			report("--drop leaves it out", name+why, false)
		}
	}
	for _, name := range read.Lost {
		lose(name, " has no place at "+c.Provider)
	}
	if tier := lane.Params.ServiceTier; tier != "" && c.From.Kind != c.Vendor.Name {
		lane.Params.ServiceTier = ""
		if tier != "auto" && tier != "default" {
			lose("service_tier", " has another meaning at "+c.Provider)
		}
	}
	if !c.fit(&lane, lose, report) {
		return nil
	}
	before := lane.Params.MaxTokens
	lane.Params = c.Catalog.Effective(lane, c.Vendor.Name)
	if before == 0 && lane.Params.MaxTokens > 0 {
		report("--max-tokens sets another",
			fmt.Sprintf("max_tokens %d is added, since %s demands one", lane.Params.MaxTokens, c.Provider), true)
	}
	wire := c.Catalog.Wire(lane, c.Vendor.Name, assay.ModeBatch)
	wire.CacheMarks, wire.CacheKey = false, false // what is cached costs: nobody asked for it
	return &assay.Request{Lane: &lane, Wire: &wire, Prompt: &read.Prompt}
}

// fit takes away what the model would refuse, or reports it.
func (c *Conversion) fit(lane *assay.Lane, lose func(name, why string), report func(hint, what string, warning bool)) bool {
	for range maxFindings { // one thing taken away may be the end of another
		refused := ""
		for _, i := range c.Catalog.Check(*lane, c.Vendor.Name, c.Today) {
			if i.Warning {
				continue
			}
			if !without(&lane.Params, i.Param) {
				report(i.Hint, i.What, false)
				return false
			}
			lose(i.Param, ": "+i.What)
			refused = i.Param
			break
		}
		if refused == "" {
			break
		}
	}
	for _, i := range c.Catalog.Check(*lane, c.Vendor.Name, c.Today) {
		report(i.Hint, i.What, i.Warning)
	}
	return true
}

// without takes a parameter away, and is false if there is no such parameter or a request needs it.
func without(p *assay.Params, name string) bool {
	switch name {
	case "temperature":
		p.Temperature = nil
	case "top_p":
		p.TopP = nil
	case "top_k":
		p.TopK = nil
	case "seed":
		p.Seed = nil
	case "stop":
		p.Stop = nil
	case "effort":
		p.Effort = ""
	case "thinking":
		p.Thinking = assay.Thinking{}
	case "thoughts":
		p.Thoughts = false
	case "schema":
		p.Schema = nil
	case "service_tier":
		p.ServiceTier = ""
	default:
		return false
	}
	return true
}

// model returns what a line's model becomes; empty: none was given, and the provider has none of that name.
func (c *Conversion) model(name string) string {
	if to, ok := c.Models[name]; ok {
		return to
	}
	if to, ok := c.Models[""]; ok {
		return to
	}
	if name != "" && (c.Vendor.AnyModel || c.Catalog.Find(c.Vendor.Name, name).Known) {
		return name
	}
	return ""
}

// dialectOf returns the dialect of a line's API.
func dialectOf(api string) assay.Dialect {
	switch api {
	case "responses":
		return assay.DialectResponses
	case "messages":
		return assay.DialectMessages
	case "generate":
		return assay.DialectGenerate
	case "converse":
		return assay.DialectConverse
	}
	return assay.DialectChat
}
