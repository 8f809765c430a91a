// Command assay asks many language models many questions and tells which is better.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"assay/cli"
	"assay/provider"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return cli.Main(ctx, cli.World{
		Args:     os.Args[1:],
		Env:      os.LookupEnv,
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: cli.TerminalOf(os.Stdin, os.Stdout, os.Stderr),
		Now:      time.Now,
		Disk:     cli.Disk{Dir: dir},
		HTTP:     provider.NewTransport(),
	})
}
