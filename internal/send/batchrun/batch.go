// Package batchrun makes the requests of a run that has no study, from the batch file its user wrote: the engine's
// other Planner.
//
// The file is kept whole among the run's artifacts; the ledger knows, for every line, its author's id and the position
// of its body. A request is those bytes under an id of ours, and its result goes back under the author's.
package batchrun

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/study"
	"assay/internal/study/decode"
)

// Batch holds the settings a batch run was begun with. It is kept in the run's settings.
type Batch struct {
	File  batchfile.File `json:"file"`
	Reach Reach          `json:"entry"`
	Size  int            `json:"size,omitempty"`        // most requests in a job, below the provider's limit
	Width int            `json:"concurrency,omitempty"` // live requests at a time

	Reaches map[string]Reach `json:"entries,omitempty"` // of a routed file: by provider
	Client  *Client          `json:"client,omitempty"`  // who sent it to a gateway; nil: it came from a command line
}

// Client holds the fields of a client's batch that a gateway returns to it.
type Client struct {
	Endpoint string              `json:"endpoint"`
	File     string              `json:"file"` // the id of the file that was uploaded
	Window   string              `json:"window"`
	Metadata map[string]string   `json:"metadata,omitempty"`
	Request  string              `json:"request"`          // digest of the call that made it
	Once     string              `json:"once,omitempty"`   // the key that the caller gave the call
	Refused  int64               `json:"refused"`          // requests that are not sent
	Broken   []batchfile.Refusal `json:"broken,omitempty"` // why nothing of the file is sent; empty: it is
}

// Reach is how the provider is reached. Secrets are named, never written.
type Reach struct {
	BaseURL  string `json:"base_url,omitempty"`
	Key      string `json:"key,omitempty"` // the variable that holds it, as ${NAME}
	Project  string `json:"project,omitempty"`
	Location string `json:"location,omitempty"`
	Input    string `json:"input,omitempty"`
	Output   string `json:"output,omitempty"`
	Account  string `json:"account,omitempty"`
	Role     string `json:"role,omitempty"`
}

// settings is the run's settings, distinguished from a study's by its one field.
type settings struct {
	Batch *Batch `json:"batch"`
}

// Of returns the settings a run was begun with; false: it is the run of a study.
func Of(run store.Run) (*Batch, bool) {
	var s settings
	if json.Unmarshal([]byte(run.Settings), &s) != nil || s.Batch == nil {
		return nil, false
	}
	return s.Batch, true
}

// Kept names the artifacts of a run that no segment has: the batch file that it was made from.
func Kept(run store.Run) []string {
	if _, ok := Of(run); ok {
		return []string{kept}
	}
	return nil
}

func of(run store.Run) (*Batch, error) {
	b, ok := Of(run)
	if !ok {
		return nil, fmt.Errorf("run %s is not one of a batch file", run.ID)
	}
	return b, nil
}

// Digest returns the same for the same bytes that go to the same place.
func (b *Batch) Digest() string {
	h := sha256.New()
	reach, _ := json.Marshal(b.Reach) // only texts
	fmt.Fprintf(h, "batch %s %s %s %s %s %s", b.File.SHA256, b.File.Provider, b.File.Kind, b.File.Model, b.File.Mode, reach)
	return hex.EncodeToString(h.Sum(nil))
}

// Study returns a study with the batch's settings of the provider, and nothing else.
func (b *Batch) Study() *study.Study {
	if b.File.Routed {
		s := &study.Study{Study: b.File.Name}
		for _, name := range slices.Sorted(maps.Keys(b.Reaches)) {
			s.Providers = append(s.Providers, Providers("", name, name, b.Reaches[name]).Providers...)
		}
		return s
	}
	return Providers(b.File.Name, b.File.Provider, b.File.Kind, b.Reach)
}

// Providers returns a study with one provider in it.
func Providers(name, provider, kind string, e Reach) *study.Study {
	p := study.Provider{Kind: kind, BaseURL: e.BaseURL, Key: e.Key, Project: e.Project, Location: e.Location, Input: e.Input,
		Output: e.Output, Account: e.Account, Role: e.Role}
	return &study.Study{Study: name, Providers: decode.Ordered[study.Provider]{{Name: provider, Value: p}}}
}

// stage is the one stage of a batch run; input is the name of its lines in the snapshot.
const (
	stage = "batch"
	input = "lines"
	kept  = "input.jsonl" // the user's file among the run's artifacts

	refusals = "refused" // the name of requests that are not sent
)

// At returns the coordinates of a line.
func At(id, lane string) assay.Coordinates {
	return assay.Coordinates{Stage: stage, Item: id, Lane: lane, Turn: 1, Draw: 1}
}
