package catalog

import (
	"fmt"
	"path"
	"slices"

	"assay/internal/assay"
)

// toolRule lists the features of tools that some models refuse. Rules add up.
type toolRule struct {
	Vendors []string `yaml:"vendors"` // none: all
	API     string   `yaml:"api"`     // empty: all
	Models  []string `yaml:"models"`  // patterns; none: all
	But     []string `yaml:"but"`     // patterns of models that the rule does not hold for
	Effort  string   `yaml:"effort"`  // the only one that the rule holds at; empty: all
	Bars    string   `yaml:"bars"`    // of the client's tools: tools, forced, batch, beside; of the provider's: search, schema, unsure
	Unless  string   `yaml:"unless"`  // forced choices are taken unless it thinks: quiet
	What    string   `yaml:"what"`
	Hint    string   `yaml:"hint"`
	Date    Date     `yaml:"date"`
	Source  string   `yaml:"source"`
}

// ToolTrouble returns why a lane cannot call tools: not at all, not by force, not in a batch, or not beside those of its provider.
func (c *Catalog) ToolTrouble(lane assay.Lane, vendor string, forced, batch bool) []Issue {
	return c.toolIssues(lane, vendor, map[string]string{"tools": "tools", "forced": on(forced, "tool_choice"),
		"batch": on(batch, "tools"), "beside": on(lane.Params.ServerTools.Any(), "tools")})
}

// Unsure returns what is not known of tools that a lane's provider runs in batches.
func (c *Catalog) Unsure(lane assay.Lane, vendor string) []Issue {
	return c.toolIssues(lane, vendor, map[string]string{"unsure": on(lane.Params.ServerTools.Any(), "server_tools")})
}

// on returns a key where it is set.
func on(set bool, key string) string {
	if set {
		return key
	}
	return ""
}

// toolIssues returns what rules say of a lane, where they bar one of these: each with the key to point at.
func (c *Catalog) toolIssues(lane assay.Lane, vendor string, barred map[string]string) []Issue {
	v, _ := c.Vendor(vendor)
	_, name := c.makerOf(v, lane.Model)
	name = v.plainName(name)
	var all []Issue
	fits := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
	}
	for _, r := range c.callable {
		if barred[r.Bars] == "" || len(r.Vendors) > 0 && !slices.Contains(r.Vendors, vendor) ||
			r.API != "" && r.API != c.apiOf(v, lane).Name || r.Effort != "" && r.Effort != lane.Params.Effort ||
			len(r.Models) > 0 && !fits(r.Models) || fits(r.But) ||
			r.Unless == "quiet" && lane.Params.Thinking.Mode != assay.ThinkingTokens {
			continue
		}
		all = append(all, Issue{Param: barred[r.Bars], Kind: Illegal, What: fmt.Sprintf("%s %s", lane.Model, r.What), Hint: r.Hint})
	}
	return all
}
