package main

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"assay/test/bench/child"
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

const (
	mediaItems = 10_000
	mediaSize  = 1 << 20 // bytes of each picture
)

// mediaBench measures a study that shows a picture of a megabyte with each of 10,000 items: its plan, which reads and hashes all of them,
// and its run in batches. Every picture is another one.
func mediaBench(ctx context.Context, b *bench) error {
	n := b.size(mediaItems)
	dir := filepath.Join(b.dir, "media")
	if err := mediaStudy(dir, n); err != nil {
		return err
	}
	sim, env, err := child.Simulator(ctx, b.assay, filepath.Join(dir, "sim"))
	if err != nil {
		return err
	}
	defer func() { _ = sim.Process.Kill(); _ = sim.Wait() }()
	do := func(args ...string) (child.Cost, error) {
		c := exec.CommandContext(ctx, b.assay, args...)
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		return child.Timed(c)
	}
	plan, err := do("plan", "study.yaml")
	if err != nil {
		return err
	}
	run, err := do("run", "study.yaml", "--yes", "--no-canary")
	if err != nil {
		return err
	}
	given, kept, all := int64(0), int64(0), int64(0)
	for at, sum := range map[string]*int64{"pictures": &given, "assay-data/runs/media": &kept, "assay-data": &all} {
		if *sum, err = sizeOf(filepath.Join(dir, filepath.FromSlash(at))); err != nil {
			return err
		}
	}
	gb := float64(given) / 1e9
	fmt.Printf("assay plan     %s: %.2f s for each of %.1f GB\n", plan, plan.Wall.Seconds()/gb, gb)
	fmt.Printf("assay run      %s (under 200 MB)\n", run)
	fmt.Printf("on the disk    %.2f of the pictures' size as copies, %.2f in all\n", float64(kept)/float64(given),
		float64(all)/float64(given))
	return nil
}

// mediaStudy writes a study with a picture of its own for each item.
func mediaStudy(dir string, n int) error {
	if err := os.MkdirAll(filepath.Join(dir, "pictures"), 0o700); err != nil {
		return err
	}
	var ids, head strings.Builder
	if err := png.Encode(&head, image.NewGray(image.Rect(0, 0, 640, 480))); err != nil {
		return err
	}
	ids.WriteString("id\n")
	random := rand.NewChaCha8([32]byte{1})
	content := append([]byte(head.String()), make([]byte, mediaSize-head.Len())...) // decoders stop at a picture's end
	for i := range n {
		_, _ = random.Read(content[head.Len():]) // it never fails
		name := fmt.Sprintf("p%05d", i)
		if err := os.WriteFile(filepath.Join(dir, "pictures", name+".png"), content, 0o600); err != nil {
			return err
		}
		ids.WriteString(name + "\n")
	}
	study := `study: media
budget: 100 USD
inputs: {pictures: {file: pictures.csv}}
lanes: {a: {model: openai/gpt-4.1-mini, max_tokens: 100}}
stages: [{name: seen, ask: pictures, media: "pictures/{{ id }}.png", prompt: "What is it?"}]
`
	for name, text := range map[string]string{"study.yaml": study, "pictures.csv": ids.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf returns the bytes of all files below a folder.
func sizeOf(dir string) (sum int64, err error) {
	return sum, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
}
