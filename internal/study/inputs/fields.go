package inputs

import (
	"bufio"
	"slices"

	"assay/internal/assay"
)

// How much is read to learn the fields of files that do not declare them.
const (
	peekRows  = 100
	peekBytes = 1 << 20
	peekFiles = 100
)

// Fields returns the fields an input's items have at their top level, found without reading all of it. Open means that
// there may be more: JSON declares nothing, so that only its beginning was looked at.
func (s *Source) Fields(name string) (fields []string, open bool, problems assay.Problems) {
	spec, ok := s.specs[name]
	if !ok {
		problems.Add(assay.Place{}, "", "the study has no input %s", quote(name))
		return nil, true, problems
	}
	if problems := s.shape(spec); len(problems) > 0 {
		return nil, true, problems
	}
	k := s.fieldsOf(spec)
	return k.names, k.open, k.problems
}

// known holds the known fields of an input.
type known struct {
	names    []string
	open     bool
	problems assay.Problems
}

func (k *known) add(names ...string) {
	for _, name := range names {
		if !slices.Contains(k.names, name) {
			k.names = append(k.names, name)
		}
	}
}

// lacks reports whether a field named by a path surely is not there.
func (k *known) lacks(path string) bool {
	if k.open || len(k.problems) > 0 || len(k.names) == 0 { // what an empty file might have is not missed
		return false
	}
	return !slices.ContainsFunc(k.names, func(name string) bool {
		return path == name || len(path) > len(name) && path[:len(name)] == name && path[len(name)] == '.'
	})
}

func (s *Source) fieldsOf(spec Spec) known {
	k := s.sourceFields(spec)
	for _, j := range spec.Join {
		k.add(j.as())
	}
	if spec.Text != "" {
		k.add("text")
	}
	return k
}

// sourceFields returns the fields before any step of the spec.
func (s *Source) sourceFields(spec Spec) known {
	switch {
	case spec.Of != "":
		return s.fieldsOf(s.specs[spec.Of])
	case len(spec.All) > 0:
		var k known
		for _, name := range spec.All {
			part := s.fieldsOf(s.specs[name])
			k.add(part.names...)
			k.open, k.problems = k.open || part.open, append(k.problems, part.problems...)
		}
		k.add(sourceField)
		return k
	case spec.File == "" && spec.Files == "":
		var k known
		for _, item := range spec.Items {
			k.addSorted(item)
		}
		return k
	}
	return s.fileFields(spec)
}

func (k *known) addSorted(fields map[string]any) {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	k.add(names...)
}

func (s *Source) fileFields(spec Spec) known {
	var k known
	left := peek{rows: peekRows, bytes: peekBytes, in: bufio.NewReaderSize(nil, 64<<10)}
	files := 0
	for f, err := range s.files(spec) {
		if files++; files > peekFiles {
			k.open = true
			break
		}
		if err != nil {
			k.fail(err)
			continue
		}
		s.peekFile(f, &left, &k)
	}
	return k
}

func (k *known) fail(err error) {
	k.open = true
	if p, ok := err.(assay.Problems); ok {
		k.problems = append(k.problems, p...)
		return
	}
	k.problems.Add(assay.Place{}, "", "%v", err)
}

// peek is how much may still be read.
type peek struct {
	rows, bytes int
	in          *bufio.Reader
}

func (s *Source) peekFile(f file, left *peek, k *known) {
	switch f.format {
	case formatLines, formatText:
		k.add("text")
	case formatCSV, formatTSV:
		names, err := s.heading(f, left.in)
		if err != nil {
			k.fail(err)
		}
		k.add(names...)
	case formatParquet:
		names, err := s.parquetNames(f)
		if err != nil {
			k.fail(err)
		}
		k.add(names...)
	default:
		k.open = true
		if left.rows <= 0 || left.bytes <= 0 {
			return
		}
		s.readFile(f, left.in, func(r row, err error) bool {
			k.addSorted(r.fields)
			left.rows--
			left.bytes -= sizeOf(r.fields)
			return left.rows > 0 && left.bytes > 0
		})
	}
}

// heading reads the names of a CSV file's columns.
func (s *Source) heading(f file, in *bufio.Reader) ([]string, error) {
	opened, err := s.fsys.Open(f.path)
	if err != nil {
		return nil, problem(assay.Place{File: f.path}, "", "open: %v", err)
	}
	defer opened.Close()
	in.Reset(opened)
	if err := skipBOM(f, in); err != nil {
		return nil, err
	}
	var failed error
	r := reader{file: f, in: in, cap: s.caps.value, yield: func(_ row, err error) bool {
		failed = err
		return false
	}}
	names, err := newCSV(&r).heading()
	if failed != nil || err == nil {
		return names, failed
	}
	return nil, nil // an empty file, which the check reports
}

// parquetNames reads the names of a parquet file's columns.
func (s *Source) parquetNames(f file) (names []string, err error) {
	at := assay.Place{File: f.path}
	opened, err := s.fsys.Open(f.path)
	if err != nil {
		return nil, problem(at, "", "open: %v", err)
	}
	defer opened.Close()
	defer func() {
		if trouble := recover(); trouble != nil {
			err = problem(at, "", "parquet: the file is damaged: %v", trouble)
		}
	}()
	pf, err := openParquet(opened)
	if err != nil {
		return nil, problem(at, "", "parquet: %v", err)
	}
	top, err := columnsOf(pf.Root())
	if err != nil {
		return nil, problem(at, "", "parquet: %v", err)
	}
	for _, c := range top.children {
		names = append(names, c.name)
	}
	return names, nil
}

// farFields returns the fields of the other side of a join.
func (s *Source) farFields(spec Spec, j Join) known {
	if other, ok := s.specs[j.With]; ok {
		return s.fieldsOf(other)
	}
	return s.fieldsOf(farSpec(spec, j))
}
