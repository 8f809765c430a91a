package catalog

import (
	"fmt"
	"path"
	"slices"

	"assay/internal/assay"
)

// toolRule lists the features of client tools that some models refuse. Rules add up.
type toolRule struct {
	Vendors []string `yaml:"vendors"` // none: all
	API     string   `yaml:"api"`     // empty: all
	Models  []string `yaml:"models"`  // patterns; none: all
	But     []string `yaml:"but"`     // patterns of models that the rule does not hold for
	Bars    string   `yaml:"bars"`    // tools, forced, batch
	Unless  string   `yaml:"unless"`  // forced choices are taken unless it thinks: quiet
	What    string   `yaml:"what"`
	Hint    string   `yaml:"hint"`
	Date    Date     `yaml:"date"`
	Source  string   `yaml:"source"`
}

// ToolTrouble returns why a lane cannot call tools: not at all, not by force, or not in a batch.
func (c *Catalog) ToolTrouble(lane assay.Lane, vendor string, forced, batch bool) []Issue {
	v, _ := c.Vendor(vendor)
	_, name := c.makerOf(v, lane.Model)
	name = v.plainName(name)
	var all []Issue
	fits := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
	}
	for _, r := range c.callable {
		if len(r.Vendors) > 0 && !slices.Contains(r.Vendors, vendor) || r.API != "" && r.API != c.apiOf(v, lane).Name ||
			len(r.Models) > 0 && !fits(r.Models) || fits(r.But) ||
			r.Bars == "forced" && !forced || r.Bars == "batch" && !batch ||
			r.Unless == "quiet" && lane.Params.Thinking.Mode != assay.ThinkingTokens {
			continue
		}
		param := "tools"
		if r.Bars == "forced" {
			param = "tool_choice"
		}
		all = append(all, Issue{Param: param, Kind: Illegal, What: fmt.Sprintf("%s %s", lane.Model, r.What), Hint: r.Hint})
	}
	return all
}
