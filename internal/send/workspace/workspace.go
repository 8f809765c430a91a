// Package workspace opens a home of runs and works in it: it begins runs, drives them, rehearses them against the
// simulator, and opens the accounts of providers.
//
// A World is everything outside of it: the environment, the clock, the disk and the way to providers. A Home is an open
// ledger with its artifacts. Nothing here prints or asks: what happened comes back as values, and failures as errors of
// types that callers can act on.
package workspace

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"assay/internal/judge/program"
	"assay/internal/keep/artifacts"
	"assay/internal/send/engine"
	"assay/internal/send/process"
	"assay/internal/send/provider"
	"assay/internal/send/traffic"
)

// World is everything outside that a workspace touches.
type World struct {
	Env  func(name string) (string, bool)
	Now  func() time.Time
	Disk Disk
	HTTP http.RoundTripper // how providers are reached

	Exchanges *traffic.Exchanges // where exchanges with providers are written down; nil: nowhere
	Contact   *traffic.Contact   // records which providers answer; nil: not recorded

	Seams
}

// Seams are for tests that stop processes, repeat them exactly, or cannot wait for hours. The program leaves them empty.
type Seams struct {
	Around  func(op string, call func() error) error                      // wraps every ledger call, as store.Options.Around does
	Synced  func()                                                        // follows every ledger call that survives the power
	Files   func(op artifacts.Step, file string, call func() error) error // wraps every change of a file, as artifacts.Folder.Around does
	Connect func(dsn string) (*sql.DB, error)                             // makes the connections of a SQLite ledger
	Boot    string                                                        // names the machine since its start; empty: the system is asked
	Timing  func(engine.Timing) engine.Timing                             // makes other waits of the usual ones
	Sleep   func(ctx context.Context, d time.Duration) error              // waits by the clock of Now
	Random  io.Reader                                                     // of ids, nonces and jitter; nil: the system's
	Self    process.Process                                               // whose leases these are; empty: this process
	Ended   func(holder string) bool                                      // reports whether a process has ended; nil: the system is asked
	Judges  func(ctx context.Context, s program.Start) error              // runs judging programs; nil: as processes
}

// IsSet reports whether a variable of the environment has a value.
func (w *World) IsSet(name string) bool { return w.env(name) != "" }

func (w *World) env(name string) string {
	v, _ := w.Env(name)
	return v
}

// KeyTrouble names the first of these variables that is set, and what is wrong with the key in it; empty: nothing.
func (w *World) KeyTrouble(names []string) (name, trouble string) {
	for _, name := range names {
		if v := w.env(name); v != "" {
			return name, provider.KeyTrouble(v)
		}
	}
	return "", ""
}

// User returns the name of the user in the environment.
func (w *World) User() string { return w.env("USER") }

// Clock returns the world's time; waiting for it takes real time, unless the world has its own way.
func (w *World) Clock() engine.Clock { return clock{w.Now, w.Sleep} }

type clock struct {
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
}

// Now returns the time.
func (c clock) Now() time.Time { return c.now() }

// Sleep waits.
func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.sleep != nil {
		return c.sleep(ctx, d)
	}
	return engine.WallClock().Sleep(ctx, d)
}

// NewID returns an id for a run: ten letters without a meaning.
func (w *World) NewID() (string, error) {
	rng, err := w.newRand()
	if err != nil {
		return "", err
	}
	return newID(rng), nil
}

func newID(rng *rand.Rand) string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	id := make([]byte, 10)
	for i := range id {
		id[i] = letters[rng.IntN(len(letters))]
	}
	return string(id)
}

// newRand is randomness for ids, nonces and jitter.
func (w *World) newRand() (*rand.Rand, error) {
	var seed [16]byte
	if _, err := io.ReadFull(cmp.Or(w.Random, crand.Reader), seed[:]); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))), nil
}
