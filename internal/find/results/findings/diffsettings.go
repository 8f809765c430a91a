package findings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/study"
	"assay/internal/study/decode"
)

// Changed is one thing that was set otherwise. Empty: it was not set.
type Changed struct {
	What string `json:"what"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// SharedItems counts the items that two runs share.
type SharedItems struct {
	Input   string `json:"input"`
	Shared  int    `json:"shared"`
	Changed int    `json:"changed"`
	First   int    `json:"only_first"`
	Second  int    `json:"only_second"`
}

// settings finds what was set otherwise: lanes and their models first, then the study, then the texts it loads.
func (d *Diff) settings(ctx context.Context) error {
	var lanes [2]map[string]map[string]string
	var studies, texts [2]map[string]string
	for i := range d.Runs {
		var err error
		if lanes[i], err = d.lanesOf(ctx, i); err != nil {
			return err
		}
		if studies[i], texts[i], err = d.studyOf(ctx, i); err != nil {
			return err
		}
	}
	d.compare([2]map[string]string{shared(lanes[0], lanes[1]), shared(lanes[1], lanes[0])})
	d.compare(studies)
	for _, name := range slices.Sorted(maps.Keys(texts[1])) {
		if was, ok := texts[0][name]; ok && was != texts[1][name] {
			line, a, b := firstOther(was, texts[1][name])
			d.Settings = append(d.Settings, Changed{fmt.Sprintf("%s, line %d", name, line), a, b})
		}
	}
	return d.items(ctx)
}

// compare adds what differs between two sets of settings.
func (d *Diff) compare(of [2]map[string]string) {
	all := map[string]bool{}
	for _, m := range of {
		for k := range m {
			all[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if of[0][k] != of[1][k] {
			d.Settings = append(d.Settings, Changed{k, of[0][k], of[1][k]})
		}
	}
}

// lanesOf returns the models and parameters of a run's lanes.
func (d *Diff) lanesOf(ctx context.Context, i int) (map[string]map[string]string, error) {
	lanes, err := d.readers[i].Ledger.Lanes(ctx, d.Runs[i].No)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]string{}
	for _, l := range lanes {
		params, err := paramsOf(l.Params)
		if err != nil {
			return nil, fmt.Errorf("parameters of lane %s: %w", l.Name, err)
		}
		at := "lane " + l.Name
		if out[l.Name] == nil { // it has parameters of its own in every stage
			out[l.Name] = map[string]string{}
		}
		out[l.Name][at+" model"] = strings.Trim(l.Provider+"/"+l.Model, "/")
		flatten(at, params, out[l.Name])
	}
	return out, nil
}

// shared returns the settings of lanes flat; of a lane that other does not have the model alone.
func shared(lanes, other map[string]map[string]string) map[string]string {
	out := map[string]string{}
	for name, settings := range lanes {
		if other[name] == nil {
			model := "lane " + name + " model"
			out[model] = settings[model]
			continue
		}
		maps.Copy(out, settings)
	}
	return out
}

// paramsOf returns the parameters of a lane by the names that a study gives them; those that are not set are left out.
func paramsOf(text string) (map[string]any, error) {
	var p assay.Params
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, err
	}
	var row rows.Answer
	if err := row.SetParams(p); err != nil {
		return nil, err
	}
	out := map[string]any{"effort": row.Effort, "thinking": row.Thinking, "thoughts": row.WithThoughts, "stop": row.Stop,
		"schema": row.Schema, "service_tier": row.ServiceTier, "server_tools": row.ServerTools, "extra": row.Extra}
	setIf(out, "temperature", row.Temperature)
	setIf(out, "top_p", row.TopP)
	setIf(out, "top_k", row.TopK)
	setIf(out, "max_tokens", row.MaxTokens)
	setIf(out, "seed", row.Seed)
	setIf(out, "logprobs", row.Logprobs)
	return out, nil
}

// setIf notes a number that is set.
func setIf[T any](out map[string]any, name string, value *T) {
	if value != nil {
		out[name] = *value
	}
}

// studyOf returns the settings of a run's study, flat, and its other texts. Lanes are separate.
func (d *Diff) studyOf(ctx context.Context, i int) (settings, texts map[string]string, err error) {
	name, all, err := d.readers[i].Scripts.Texts(ctx, d.Runs[i])
	if err != nil {
		return nil, nil, err
	}
	settings, texts = map[string]string{}, map[string]string{}
	for file, text := range all {
		if file != name {
			texts[file] = text
			continue
		}
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			return nil, nil, fmt.Errorf("read the study of run %s: %w", d.Runs[i].ID, err)
		}
		delete(doc, "lanes")
		delete(doc, "lane_defaults")
		flatten("", doc, settings)
	}
	for file := range texts {
		if ext := path.Ext(file); ext == ".yaml" || ext == ".yml" {
			delete(texts, file) // lanes, which are compared as they are in the end
		}
	}
	var said any
	if err := json.Unmarshal([]byte(d.Runs[i].Settings), &said); err != nil {
		return nil, nil, fmt.Errorf("settings of run %s: %w", d.Runs[i].ID, err)
	}
	flatten("command line", said, settings)
	delete(settings, "command line.file")
	return settings, texts, nil
}

// flatten writes every value of a tree under its path; elements of a list go by their name, else by their number.
func flatten(at string, v any, out map[string]string) {
	join := func(name string) string { return strings.TrimPrefix(at+"."+name, ".") }
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, x := range v {
			flatten(join(name), x, out)
		}
	case []any:
		for i, x := range v {
			name := fmt.Sprint(i + 1)
			if m, ok := x.(map[string]any); ok && m["name"] != nil {
				name = fmt.Sprint(m["name"])
			}
			flatten(join(name), x, out)
		}
	default:
		if text := fmt.Sprint(v); text != "" && text != "false" {
			out[at] = text
		}
	}
}

// firstOther returns the first line in which two texts differ.
func firstOther(a, b string) (line int, was, is string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		was, is = "", ""
		if i < len(x) {
			was = x[i]
		}
		if i < len(y) {
			is = y[i]
		}
		if was != is {
			return i + 1, was, is
		}
	}
	return 0, "", ""
}

// items counts how far both runs asked the same, and notes which items both have.
func (d *Diff) items(ctx context.Context) error {
	var studies [2]*study.Study
	for i := range d.Runs {
		var err error
		if studies[i], err = d.readers[i].Study(ctx, d.Runs[i]); err != nil {
			return err
		}
	}
	for _, in := range studies[0].Inputs {
		if !slices.ContainsFunc(studies[1].Inputs, func(o decode.Entry[study.Input]) bool { return o.Name == in.Name }) {
			continue
		}
		was, err := d.itemHashes(ctx, 0, in.Name)
		if err != nil {
			return err
		}
		is, err := d.itemHashes(ctx, 1, in.Name)
		if err != nil {
			return err
		}
		one := SharedItems{Input: in.Name}
		for id, hash := range is {
			other, ok := was[id]
			switch {
			case !ok:
				one.Second++
				continue
			case other != hash:
				one.Changed++
				d.changed[id] = true
			}
			one.Shared++
			d.shared[id] = true
		}
		one.First = len(was) - one.Shared
		d.Items = append(d.Items, one)
	}
	return nil
}

func (d *Diff) itemHashes(ctx context.Context, i int, input string) (map[string][8]byte, error) {
	out := map[string][8]byte{}
	for it, err := range d.readers[i].Ledger.Items(ctx, d.Runs[i].No, input) {
		if err != nil {
			return nil, err
		}
		out[it.ID] = hashItem(&it)
	}
	return out, nil
}

func hashItem(it *assay.Item) [8]byte {
	text, err := json.Marshal(it.Fields)
	if err != nil {
		text = nil // fields come out of JSON: they can be written
	}
	sum := sha256.Sum256(bytes.Join([][]byte{text, []byte(it.Cluster), []byte(it.Expect)}, []byte{0}))
	return [8]byte(sum[:8])
}
