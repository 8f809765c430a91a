package assay

import "strings"

// SameModel reports whether a model that a reply names may be the one that was asked: the same name, or one with a date or a version
// after it. Providers name snapshots of what they were asked for.
func SameModel(asked, served string) bool {
	a, s := modelStem(asked), modelStem(served)
	return served == "" || a == s || strings.HasSuffix(a, "."+s) || strings.HasSuffix(s, "."+a)
}

// modelStem returns the name of a model without where it lies, what kind of access it is, and the date or version of a snapshot.
func modelStem(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	name, _, _ = strings.Cut(name, ":")
	name = strings.ReplaceAll(name, "@", "-")
	for {
		i := strings.LastIndexByte(name, '-')
		if i <= 0 || !snapshotWord(name[i+1:]) {
			return name
		}
		name = name[:i]
	}
}

// snapshotWord reports whether a part of a model's name tells snapshots apart: digits of a date, a version, or a word.
func snapshotWord(part string) bool {
	switch part {
	case "latest", "preview", "exp":
		return true
	}
	digits := strings.TrimPrefix(part, "v")
	return digits != "" && len(part) != 1 && strings.Trim(digits, "0123456789") == ""
}
