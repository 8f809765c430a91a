package hub

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"assay/internal/assay"
)

// name is a dataset, one of its revisions, and a file or folder in it.
type name struct {
	owner, repo string
	revision    string // empty: the one that the dataset's page shows
	path        string // empty: the dataset as a whole
}

const usualRevision = "main"

var part = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// parse reads hf://OWNER/NAME@REVISION/PATH. A slash of a revision is written %2F, but for refs/convert/NAME and refs/pr/NUMBER.
func parse(text string) (name, error) {
	rest := strings.Trim(strings.TrimPrefix(assay.CleanPath(text), assay.Remote), "/")
	if kind, more, _ := strings.Cut(rest, "/"); strings.Count(rest, "/") >= 2 {
		switch kind {
		case "datasets":
			rest = more
		case "models", "spaces", "buckets":
			return name{}, problem(form, "%s: only datasets are read", text)
		}
	}
	var n name
	var ok bool
	n.owner, rest, _ = strings.Cut(rest, "/")
	n.repo, rest, _ = strings.Cut(rest, "/")
	if n.repo, n.revision, ok = strings.Cut(n.repo, "@"); ok {
		parts := strings.SplitN(rest, "/", 3)
		if n.revision == "refs" && len(parts) > 1 {
			n.revision, rest = "refs/"+parts[0]+"/"+parts[1], strings.Join(parts[2:], "/")
		}
		plain, err := url.PathUnescape(n.revision)
		if n.revision = plain; err != nil || plain == "" || strings.ContainsAny(plain, " ?#") {
			return name{}, problem(form, "%s: that is no revision", text)
		}
	}
	n.path = rest
	if !part.MatchString(n.owner) || !part.MatchString(n.repo) || n.path != "" && !safe(n.path) {
		return name{}, problem(form, "%s names no dataset", text)
	}
	return n, nil
}

const form = "such as hf://OWNER/NAME@REVISION/data/train.parquet"

// safe reports whether a path stays in its dataset.
func safe(p string) bool {
	return path.IsAbs("/"+p) && path.Clean("/" + p)[1:] == p && !strings.HasPrefix(p, "../")
}

func (n name) dataset() string { return n.owner + "/" + n.repo }

// at returns the name of a path at a revision, as a study writes it.
func (n name) at(revision, p string) string {
	text := assay.Remote + n.dataset()
	if revision != "" {
		if !strings.HasPrefix(revision, "refs/") || strings.Count(revision, "/") != 2 {
			revision = url.PathEscape(revision)
		}
		text += "@" + revision
	}
	if p != "" {
		text += "/" + p
	}
	return text
}

func (n name) String() string { return n.at(n.revision, n.path) }

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

func isCommit(revision string) bool { return commitForm.MatchString(revision) }

// problem is an error that a study or a command line reports at its own place.
func problem(hint, format string, args ...any) error {
	var p assay.Problems
	p.Add(assay.Place{}, hint, format, args...)
	return p
}
