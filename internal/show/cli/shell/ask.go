package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Ask wants a yes before money moves. Without a terminal and without --yes nothing is sent.
func Ask(w *World, yes bool, question string) error {
	return Doubt{Question: question, Verb: "send", Declined: "nothing was sent"}.Ask(w, yes)
}

// Doubt is a question before something that cannot be taken back.
type Doubt struct {
	Question string
	Verb     string // what --yes does
	Declined string
}

// Ask wants a yes; without a terminal, only --yes is one.
func (d Doubt) Ask(w *World, yes bool) error {
	if yes {
		return nil
	}
	if !w.Terminal.In {
		return Usage("add --yes to "+d.Verb, "%s: there is no terminal to ask", d.Declined)
	}
	yes, err := d.Yes(w)
	if err == nil && !yes {
		err = Usage("", "%s", d.Declined)
	}
	return err
}

// Yes asks at the terminal.
func (d Doubt) Yes(w *World) (bool, error) {
	fmt.Fprint(w.Stderr, d.Question+" [y/N] ")
	answer, err := bufio.NewReader(w.Typed).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes", nil
}
