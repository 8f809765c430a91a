package recount

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Claims is what `analyse --json` prints of one run.
type Claims struct {
	Run        string  `json:"run"`
	Incomplete bool    `json:"incomplete"`
	Summary    Summary `json:"summary"`
	Tables     []Table `json:"tables"`
	Costs      []Cost  `json:"costs"`
}

// Summary is the answer in words, and lanes in order.
type Summary struct {
	Headline string   `json:"headline"`
	Further  []string `json:"further"`
	Coverage string   `json:"coverage"`
	Complete bool     `json:"complete"`
	Ranked   []struct {
		Name string `json:"name"`
		Tier string `json:"tier"`
	} `json:"ranked"`
}

// Table is one table of findings.
type Table struct {
	Stage      string    `json:"stage"`
	Title      string    `json:"title"`
	Method     string    `json:"method"`
	Primary    bool      `json:"primary"`
	People     bool      `json:"people"`
	Coverage   Coverage  `json:"coverage"`
	Incomplete bool      `json:"incomplete"`
	Findings   []Finding `json:"findings"`
	Notes      []string  `json:"notes"`
	Matrix     *struct {
		Names  []string     `json:"names"`
		Shares [][]*float64 `json:"shares"`
	} `json:"matrix"`
}

// Coverage counts verdicts by what became of them.
type Coverage struct {
	Share     *float64 `json:"share"`
	Planned   int      `json:"planned"`
	Valid     int      `json:"valid"`
	Abstained int      `json:"abstained"`
	Malformed int      `json:"malformed"`
	Failed    int      `json:"failed"`
	Missing   int      `json:"missing"`
	Excluded  int      `json:"excluded"`
}

// Finding is one claimed number.
type Finding struct {
	What     string            `json:"what"`
	By       map[string]string `json:"by"`
	Unit     string            `json:"unit"`
	Value    *float64          `json:"value"`
	SE       *float64          `json:"se"`
	Low      *float64          `json:"low"`
	High     *float64          `json:"high"`
	Level    float64           `json:"level"`
	N        int               `json:"n"`
	Clusters int               `json:"clusters"`
	Coverage Coverage          `json:"coverage"`
	AtLeast  *float64          `json:"bound_low"`
	AtMost   *float64          `json:"bound_high"`
	Method   string            `json:"method"`
	P        *float64          `json:"p"`
	Holm     *float64          `json:"p_holm"`
	Primary  bool              `json:"primary"`
	Rank     *struct {
		Rank  int `json:"rank"`
		Best  int `json:"best"`
		Worst int `json:"worst"`
	} `json:"rank"`
	Record *struct {
		Wins   int `json:"wins"`
		Ties   int `json:"ties"`
		Losses int `json:"losses"`
	} `json:"record"`
	Counts map[string]int `json:"counts"`
	Why    string         `json:"why"`
}

// Cost is what a lane cost in a stage.
type Cost struct {
	Stage      string   `json:"stage"`
	Lane       string   `json:"lane"`
	Cost       *float64 `json:"cost_usd"`
	AtLeast    float64  `json:"at_least_usd"`
	Spent      *float64 `json:"spent_usd"`
	Answers    int      `json:"answers"`
	PerAnswer  *float64 `json:"per_answer_usd"`
	PerVerdict *float64 `json:"per_valid_verdict_usd"`
}

// ReadClaims reads what `analyse --json` prints of one run.
func ReadClaims(text []byte) (Claims, error) {
	var doc struct {
		Runs []Claims `json:"runs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return Claims{}, fmt.Errorf("what analyse --json prints: %w", err)
	}
	if len(doc.Runs) != 1 {
		return Claims{}, errors.New("what analyse --json prints: want one run")
	}
	return doc.Runs[0], nil
}

// about returns what a finding is grouped by, in a fixed order.
func (f *Finding) about() string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(f.By)) {
		parts = append(parts, field+"="+f.By[field])
	}
	return strings.Join(parts, " ")
}
