// Command catalog packs the rows of the catalogue, from the root of the repository: go run ./scripts/catalog.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"assay/internal/study/catalog"
)

func main() {
	dir := filepath.Join("internal", "study", "catalog")
	text, err := catalog.Pack(os.DirFS(dir))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "rows.json"), text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}
