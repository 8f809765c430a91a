package studyfile

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/prompt"
)

func (r *reader) checkRubrics() {
	for i := range r.study.Rubrics {
		e := &r.study.Rubrics[i]
		e.Value.Name = e.Name
		if !stageName.MatchString(e.Name) {
			r.found.Add(e.At, "small letters, digits and _, starting with a letter", "rubric name %s", decode.Quote(e.Name))
		}
		r.rubricTexts(&e.Value)
	}
}

func (r *reader) rubricTexts(u *study.Rubric) {
	r.template(&u.System)
	for i := range u.Prompt {
		r.template(&u.Prompt[i].Text)
	}
	forms := 0
	for _, key := range []string{"prompt", "command", "rule"} {
		if u.Has(key) {
			forms++
		}
	}
	if forms != 1 && u.At.Line > 0 {
		r.found.Add(u.At, "", "a rubric has one of prompt, command, rule")
	}
	if first, _ := utf8.DecodeRuneInString(u.Score); u.Score != "" && first != '_' && !unicode.IsLetter(first) {
		r.found.Add(u.Where.Key("score"), "a scale is `labels: [1, 2, 3, 4, 5]`; `score` names the field that holds the score",
			"score %s is no field", decode.Quote(u.Score))
	}
	if u.Has("command") && len(u.Command) == 0 {
		r.found.Add(u.Where.Key("command"), "such as [python3, score.py]", "the command names no program")
	}
	r.checkRule(u)
	for _, arg := range u.Command {
		r.noteFile(arg)
	}
}

// checkRule holds a rule against itself: one form, a template that can be read, and labels that it gives.
func (r *reader) checkRule(u *study.Rubric) {
	if u.Rule == nil {
		return
	}
	forms := 0
	for _, key := range []string{"exact", "contains", "regex", "json", "tool"} {
		if u.Rule.Has(key) {
			forms++
		}
	}
	if forms != 1 {
		r.found.Add(u.Where.Key("rule"), "", "a rule has one of exact, contains, regex, json, tool")
	}
	r.checkToolRule(u.Rule.Tool)
	if e := &u.Rule.Exact; e.Text != "" && e.Template == nil {
		parsed, problems := prompt.Parse(e.At, e.Text)
		e.Template = parsed
		r.found = append(r.found, problems...)
	}
	labels := make([]string, len(u.Labels))
	for i, l := range u.Labels {
		labels[i] = l.Name
	}
	for _, e := range u.Rule.Regex {
		if len(labels) > 0 {
			r.known(e.At, "label of this rubric", e.Name, labels)
		}
	}
}

// noteFile remembers a file of the study's folder that a command names, so that a change of it is a change of the
// study.
func (r *reader) noteFile(name string) {
	if strings.HasPrefix(name, "-") || path.IsAbs(name) || slices.Contains(r.study.Loaded, name) {
		return
	}
	f, err := r.fsys.Open(assay.CleanPath(name))
	if err != nil {
		return // no file, but a word
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return
	}
	r.study.Loaded = append(r.study.Loaded, name)
	if r.study.Programs == nil {
		r.study.Programs = map[string]string{}
	}
	r.study.Programs[name] = hex.EncodeToString(h.Sum(nil))
}
