// Package child builds assay, runs it and what it is held against, and says what each process cost.
package child

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"assay/internal/simulator"
	"assay/internal/study/catalog"
)

// Build compiles assay as it is released and returns where the binary is.
func Build(dir string) (string, error) {
	binary := filepath.Join(dir, "assay")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "assay/cmd/assay")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build assay: %w\n%s", err, out)
	}
	return binary, nil
}

// Cost is the time and memory of a process and of the children it waited for.
type Cost struct {
	Wall time.Duration
	CPU  time.Duration
	Peak int64 // bytes, of the largest process
}

func (c Cost) String() string {
	return fmt.Sprintf("%.2f s wall, %.2f s CPU, %d MB peak", c.Wall.Seconds(), c.CPU.Seconds(), c.Peak>>20)
}

// Timed runs a command once.
func Timed(c *exec.Cmd) (Cost, error) {
	var out bytes.Buffer
	c.Stderr = &out
	start := time.Now()
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out.String())
	}
	return Ended(c, start), err
}

// Ended is what a command cost that began then and was waited for.
func Ended(c *exec.Cmd, start time.Time) Cost {
	got := Cost{Wall: time.Since(start)}
	if c.ProcessState == nil { // it did not start
		return got
	}
	got.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		got.Peak = usage.Maxrss << 10
	}
	return got
}

// Measure runs a command n times and returns the least time and the most memory.
func Measure(ctx context.Context, n int, name string, args ...string) (Cost, error) {
	var best Cost
	for i := range n {
		got, err := Timed(exec.CommandContext(ctx, name, args...))
		if err != nil {
			return Cost{}, err
		}
		if i == 0 || got.Wall < best.Wall {
			best.Wall, best.CPU = got.Wall, got.CPU
		}
		best.Peak = max(best.Peak, got.Peak)
	}
	return best, nil
}

// Simulator starts a simulator and returns the variables that lead to it.
func Simulator(ctx context.Context, assay, dir string, args ...string) (*exec.Cmd, []string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	sim := exec.CommandContext(ctx, assay, append([]string{"sim", "--listen", "127.0.0.1:0", "--dir", dir}, args...)...)
	out, err := sim.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := sim.Start(); err != nil {
		return nil, nil, err
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, nil, err
	}
	root, _, _ := strings.Cut(strings.TrimPrefix(first, "simulator at "), ";")
	twin, err := simulator.New(simulator.Options{Dir: filepath.Join(dir, "twin")}) // knows the same addresses
	if err != nil {
		return nil, nil, err
	}
	defer twin.Close()
	var env []string
	for name, url := range twin.BaseURLs(root) {
		if v, ok := catalog.Default().Vendor(name); ok && v.BaseURLEnv != "" && len(v.KeyEnv) > 0 {
			env = append(env, v.BaseURLEnv+"="+url, v.KeyEnv[0]+"=sim")
		}
	}
	return sim, env, nil
}
