package main

import (
	"context"
	"os"
	"os/exec"
)

// insertBench holds settling against bare insertion on both databases. It lives with the store's tests, which have a
// PostgreSQL of their own.
func insertBench(ctx context.Context, _ *bench) error {
	c := exec.CommandContext(ctx, "go", "test", "./store", "-run", "^$", "-bench", "OneSegment", "-benchtime", "5x")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}
