package judge

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Rule judges an answer without a model. Expect is the right answer, or what the study's template made of it.
type Rule func(answer, expect string) assay.Verdict

// RightWrong returns the labels of rules that know the right answer.
func RightWrong() []Label {
	return []Label{{Name: "right", Score: num(1)}, {Name: "wrong", Score: num(0)}}
}

func rightIf(right bool) assay.Verdict {
	if right {
		return valid("right", num(1))
	}
	return valid("wrong", num(0))
}

func valid(label string, score *float64) assay.Verdict {
	return assay.Verdict{State: assay.VerdictValid, Label: label, Score: score}
}

func without(state assay.VerdictState, format string, args ...any) assay.Verdict {
	return assay.Verdict{State: state, Why: fmt.Sprintf(format, args...)}
}

const noExpect = "the item has no expected answer"

// Exact returns a rule that labels an answer right if all of it is the expected one, white space around both aside.
func Exact() Rule {
	return func(answer, expect string) assay.Verdict {
		if strings.TrimSpace(expect) == "" {
			return without(assay.VerdictAbstained, noExpect)
		}
		return rightIf(strings.TrimSpace(answer) == strings.TrimSpace(expect))
	}
}

// Contains returns a rule that labels an answer right if it holds one of the texts, in any case; without texts, the expected one.
func Contains(texts ...string) Rule {
	return func(answer, expect string) assay.Verdict {
		wanted := texts
		if len(wanted) == 0 {
			wanted = []string{expect}
		}
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return strings.TrimSpace(w) == "" })
		if len(wanted) == 0 {
			return without(assay.VerdictAbstained, noExpect)
		}
		lower := strings.ToLower(answer)
		return rightIf(slices.ContainsFunc(wanted, func(w string) bool {
			return strings.Contains(lower, strings.ToLower(strings.TrimSpace(w)))
		}))
	}
}

// FitsSchema returns a rule that labels an answer right if it is JSON that fits: all of it, or all of its one fenced
// block. Fits returns what is wrong with a JSON text.
func FitsSchema(fits func(json []byte) error) Rule {
	return func(answer, _ string) assay.Verdict {
		err := fits([]byte(unfenced(answer)))
		v := rightIf(err == nil)
		if err != nil {
			v.Explanation = err.Error()
		}
		return v
	}
}

// unfenced removes the ``` lines around a text.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	inner, opened := strings.CutPrefix(text, "```")
	inner, closed := strings.CutSuffix(inner, "```")
	if !opened || !closed {
		return text
	}
	if language, rest, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(language, "{[\"") {
		inner = rest
	}
	return strings.TrimSpace(inner)
}

// Pattern is a label and the expressions for answers that get it.
type Pattern struct {
	Label   string
	Score   *float64
	Matches []*regexp.Regexp
}

// ParsePattern reads the patterns of one label: regular expressions for which case does not matter, unless they contain (?-i).
func ParsePattern(label string, patterns ...string) (Pattern, error) {
	p := Pattern{Label: label}
	for _, text := range patterns {
		re, err := regexp.Compile("(?i)" + text)
		if err != nil {
			why, bad := err.Error(), (*syntax.Error)(nil)
			if errors.As(err, &bad) {
				why = bad.Code.String()
			}
			return p, fmt.Errorf("pattern %q of label %s is no regular expression: %s", text, label, why)
		}
		p.Matches = append(p.Matches, re)
	}
	return p, nil
}

// Match gives the first label of which a pattern matches the answer, else the other one; where that is empty, it abstains.
func Match(patterns []Pattern, otherwise string) Rule {
	return func(answer, _ string) assay.Verdict {
		for _, p := range patterns {
			for _, re := range p.Matches {
				if at := re.FindStringIndex(answer); at != nil {
					v := valid(p.Label, p.Score)
					v.Explanation = answer[at[0]:at[1]]
					return v
				}
			}
		}
		if otherwise == "" {
			return without(assay.VerdictAbstained, "no pattern matches")
		}
		return valid(otherwise, nil)
	}
}
