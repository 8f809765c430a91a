package study

// BuiltinRubrics are the rubrics that need no definition.
func BuiltinRubrics() []string {
	return []string{"better", "better_sample", "compliance", "contains", "exact", "flip", "likert", "stance", "stance_keywords"}
}

// BuiltinTraits are the traits that need no definition.
func BuiltinTraits() []string { return []string{"organization", "overall_quality"} }

// Modelless tells whether the rubric judges by rule or program.
func (u *Rubric) Modelless() bool {
	if len(u.Command) > 0 || u.Rule != nil {
		return true
	}
	switch u.Name {
	case "contains", "exact", "stance_keywords":
		return true
	}
	return false
}

// RubricOf is the rubric of a judge or compare stage: its own, one of the study's, or a built-in one by name alone.
func (s *Study) RubricOf(st *Stage) *Rubric {
	if st.Rubric.Own != nil {
		return st.Rubric.Own
	}
	for i := range s.Rubrics {
		if s.Rubrics[i].Name == st.Rubric.Name {
			return &s.Rubrics[i].Value
		}
	}
	for _, name := range BuiltinRubrics() {
		if name == st.Rubric.Name {
			return &Rubric{Name: name}
		}
	}
	return nil
}

func (r *run) rubric(st *Stage) *Rubric {
	if found := r.study.RubricOf(st); found != nil {
		return found
	}
	if st.Rubric.Name == "" {
		r.found.Add(st.At, "such as rubric: compliance", "stage %s has no rubric", st.Name)
		return nil
	}
	r.known(st.Rubric.At, "rubric", st.Rubric.Name, append(BuiltinRubrics(), r.study.Rubrics.Names()...))
	return nil
}

func (r *run) checkRubrics() {
	for i := range r.study.Rubrics {
		e := &r.study.Rubrics[i]
		e.Value.Name = e.Name
		if !stageName.MatchString(e.Name) {
			r.found.Add(e.At, "small letters, digits and _, starting with a letter", "rubric name %s", quote(e.Name))
		}
		r.rubricTexts(&e.Value)
	}
}

func (r *run) rubricTexts(u *Rubric) {
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
	if forms != 1 {
		r.found.Add(u.At, "", "a rubric has one of prompt, command, rule")
	}
}
