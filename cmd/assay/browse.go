package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// browse shows a file in the user's browser, and does not wait for it.
func browse(file string) error {
	command, err := opener(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	c := exec.Command(command[0], append(command[1:], file)...)
	if err := c.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command[0], err)
	}
	go c.Wait() // its result does not matter
	return nil
}

// opener returns the command that shows a file, on a system.
func opener(system string, env func(string) string) ([]string, error) {
	switch {
	case system == "darwin":
		return []string{"open"}, nil
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}, nil
	case env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "":
		return nil, errors.New("there is no display")
	}
	return []string{"xdg-open"}, nil
}
