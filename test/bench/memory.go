package main

import (
	"context"
	"fmt"
	"path/filepath"
)

const memoryRequests = 10_000

// memoryBench measures the peak of a run of the size that most studies have, through batch jobs and live.
func memoryBench(ctx context.Context, b *bench) error {
	batch, err := b.wholeRun(ctx, filepath.Join(b.dir, "memory-batch"), memoryRequests)
	if err != nil {
		return err
	}
	address, stop, err := liveServe(ctx, b, 0)
	if err != nil {
		return err
	}
	defer stop()
	dir := filepath.Join(b.dir, "memory-live")
	if err := liveStudy(dir, memoryRequests); err != nil {
		return err
	}
	live, err := b.askLive(ctx, dir, address)
	if err != nil {
		return err
	}
	fmt.Printf("batch          %s (under 90)\n", batch)
	fmt.Printf("live           %s (under 90)\n", live)
	return nil
}
