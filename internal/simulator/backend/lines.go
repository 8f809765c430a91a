package backend

import (
	"bytes"
	"errors"
	"strings"

	"assay/internal/simulator/spill"
)

// EachResult calls f with every line of a job's results, from an offset, and stops when f returns false.
func EachResult(b spill.Blob, from int64, f func(line []byte, next int64) bool) error {
	if b.Size <= from {
		return nil
	}
	stop := errors.New("enough")
	err := spill.EachLine(b, func(line []byte, off int64) error {
		if off >= from && !f(bytes.Clone(line), off+int64(len(line))+1) {
			return stop
		}
		return nil
	})
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// BaseName returns the last part of a file name, as providers show it.
func BaseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }
