package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Shares that studies with labels from a file are refused for: what the judge alone claims at least, so that there is something to
// correct, and what corrected numbers claim at most.
const (
	leastByJudge    = 0.7
	mostByLabels    = 0.05
	labelledOfStudy = 30 // items, with both lanes
)

// labelsBench imports studies whose judge favours one of two lanes that people call alike, takes in people's labels from a file, and
// counts the studies whose lanes get different letters, before and after.
func labelsBench(ctx context.Context, b *bench) error {
	studies := b.size(200)
	var judge, people int
	for k := range studies {
		s := labelsStudy{b: b, dir: filepath.Join(b.dir, fmt.Sprintf("study-%d", k))}
		before, after, err := s.try(ctx, rand.New(rand.NewPCG(b.seed, uint64(k))))
		if err != nil {
			return fmt.Errorf("study %d: %w", k, err)
		}
		judge, people = judge+int(yes(before)), people+int(yes(after))
		if err := os.RemoveAll(s.dir); err != nil {
			return err
		}
	}
	share := func(n int) float64 { return float64(n) / float64(studies) }
	fmt.Printf("%d studies, 400 items, 2 lanes, 60 labels, seed %d: false claims of the judge alone %.1f%%, with labels %.1f%%\n", studies,
		b.seed, 100*share(judge), 100*share(people))
	room := 2.5 * math.Sqrt(mostByLabels*(1-mostByLabels)/float64(studies))
	if share(judge) < leastByJudge || share(people) > mostByLabels+room {
		return fmt.Errorf("want at least %g%% and at most %g%%", 100*leastByJudge, 100*mostByLabels)
	}
	return nil
}

// labelsStudy is one study in a folder and a home of its own.
type labelsStudy struct {
	b   *bench
	dir string
}

// try reports whether the lanes get different letters by the judge alone, and with labels.
func (s labelsStudy) try(ctx context.Context, r *rand.Rand) (before, after bool, err error) {
	if err := s.write(r); err != nil {
		return false, false, err
	}
	if err := s.assay(ctx, nil, "import", "--format", "csv", "results", "--out", "study"); err != nil {
		return false, false, err
	}
	if before, err = s.claims(ctx); err != nil {
		return false, false, err
	}
	if err := s.assay(ctx, nil, "import", "--format", "labels", "labels.csv", "--stage", "fine", "--judge", "human:anna"); err != nil {
		return false, false, err
	}
	after, err = s.claims(ctx)
	return before, after, err
}

// write writes answers, verdicts of a judge that favours the first lane by 10 points, and labels of a sample.
func (s labelsStudy) write(r *rand.Rand) error {
	if err := os.MkdirAll(filepath.Join(s.dir, "results"), 0o755); err != nil {
		return err
	}
	all := checkedDesigns()
	d := all[slices.IndexFunc(all, func(d checkedDesign) bool { return d.name == "favours one lane by 10 points" })]
	d.drawn = labelledOfStudy
	a := d.make(r)
	word := func(x float64) string { return []string{"no", "yes"}[int(x)] }
	lanes := []string{"one", "two"}
	answers, verdicts := [][]string{{"item", "lane", "text"}}, [][]string{{"stage", "item", "lane", "judge", "label", "score"}}
	for i := range a.judge {
		for l, lane := range lanes {
			item := fmt.Sprintf("q%03d", i)
			answers = append(answers, []string{item, lane, fmt.Sprintf("answer %d of %s", i, lane)})
			verdicts = append(verdicts, []string{"fine", item, lane, "gpt", word(a.judge[i][l]), fmt.Sprint(a.judge[i][l])})
		}
	}
	order, weights := d.draw(r, a)
	weight, labels := weights(len(order)), [][]string{{"item", "lane", "label", "probability"}}
	for _, i := range order {
		for l, lane := range lanes {
			labels = append(labels, []string{fmt.Sprintf("q%03d", i), lane, word(a.people[i][l]),
				strconv.FormatFloat(1/weight[i], 'g', -1, 64)})
		}
	}
	for name, rows := range map[string][][]string{"results/answers.csv": answers, "results/verdicts.csv": verdicts, "labels.csv": labels} {
		var text strings.Builder
		if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// assay runs a command in the study's folder; what it prints is read as JSON, if that is wanted.
func (s labelsStudy) assay(ctx context.Context, into any, args ...string) error {
	c := exec.CommandContext(ctx, s.b.assay, append(args, "--home", "home")...)
	c.Dir = s.dir
	var told strings.Builder
	c.Stderr = &told
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("assay %s: %w\n%s", strings.Join(args, " "), err, told.String())
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}

// claims reports whether the lanes have different letters.
func (s labelsStudy) claims(ctx context.Context) (bool, error) {
	var found struct {
		Runs []struct {
			Summary struct {
				Ranked []struct{ Tier string }
			}
		}
	}
	if err := s.assay(ctx, &found, "analyse", "--json"); err != nil {
		return false, err
	}
	if len(found.Runs) != 1 || len(found.Runs[0].Summary.Ranked) != 2 {
		return false, fmt.Errorf("%d runs, or not two lanes that are ranked", len(found.Runs))
	}
	two := found.Runs[0].Summary.Ranked
	return two[0].Tier != two[1].Tier, nil
}
