package workspace

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// homesDepth is how far below a folder homes are looked for.
const homesDepth = 8

// HomesUnder finds the homes in and below a folder that have a ledger of the asked kind: the folder itself where it is one.
// Hidden folders and links are not entered.
func HomesUnder(w *World, root string, rehearsal Rehearsal) ([]Place, error) {
	root = w.Disk.Path(root)
	var out []Place
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil && dir != root {
			return fs.SkipDir // what may not be read is not ours
		}
		if err != nil || !d.IsDir() {
			return err
		}
		if ledger := ledgerIn(dir, rehearsal); w.Disk.IsFile(ledger) {
			out = append(out, Place{Home: dir, DB: ledger, Cache: UsualCache()})
		}
		rel, _ := filepath.Rel(root, dir) // dir is below root
		name, deep := d.Name(), strings.Count(rel, string(filepath.Separator)) >= homesDepth
		if dir != root && (deep || name == homeName || strings.HasPrefix(name, ".") || name == "node_modules") {
			return fs.SkipDir
		}
		return nil
	})
	return out, err
}

// AllHomes finds the home of the working folder, which may be above it, and all below.
func AllHomes(w *World, rehearsal Rehearsal) ([]Place, error) {
	out, err := HomesUnder(w, ".", rehearsal)
	own := Place{}.Dir(w)
	if ledger := ledgerIn(own, rehearsal); err == nil && w.Disk.IsFile(ledger) && !slices.ContainsFunc(out, func(p Place) bool { return p.Home == own }) {
		out = append([]Place{{Home: own, DB: ledger, Cache: UsualCache()}}, out...)
	}
	return out, err
}

// ledgerIn is the file of the ledger in a home.
func ledgerIn(home string, rehearsal Rehearsal) string {
	if rehearsal {
		return filepath.Join(home, rehearsalName, ledgerName)
	}
	return filepath.Join(home, ledgerName)
}
