package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// liveFloor asks the same questions with as many requests in flight. Its argument is an address, a number of questions, and the file into
// which questions and answers are written and synced; without a file the answers are thrown away.
func liveFloor(arg string) error {
	words := strings.SplitN(arg, " ", 3)
	n, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	keep := func([]byte) error { return nil }
	if words[2] != "" {
		l, err := newSyncedLog(words[2])
		if err != nil {
			return err
		}
		defer l.close()
		keep = l.keep
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = liveWidth
	client := &http.Client{Transport: t}
	next := make(chan int)
	failed := make(chan error, liveWidth)
	var wg sync.WaitGroup
	for range liveWidth {
		wg.Go(func() {
			for i := range next {
				text, err := liveAsk(client, words[0], i)
				if err == nil {
					err = keep(text)
				}
				if err != nil {
					failed <- err
					for range next { // the others go on
					}
					return
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	close(failed)
	return <-failed
}

// liveAsk asks one question and returns the bytes of question and answer.
func liveAsk(client *http.Client, address string, i int) ([]byte, error) {
	body := fmt.Appendf(nil, `{"model":"gpt-4.1-2025-04-14","max_output_tokens":50,"store":false,"input":[{"role":"user","content":%q}]}`,
		liveQuestion(i))
	req, err := http.NewRequest("POST", "http://"+address+"/openai/v1/responses", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer sim")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	text, err := io.ReadAll(resp.Body)
	return append(body, text...), err
}

// syncedLog is a file in which what was handed over is durable when keep returns: what comes during one sync goes with the next.
type syncedLog struct {
	file *os.File
	in   chan entry
	done chan struct{}
}

type entry struct {
	text []byte
	kept chan error
}

func newSyncedLog(name string) (*syncedLog, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	l := &syncedLog{file: f, in: make(chan entry, liveWidth), done: make(chan struct{})}
	go l.write()
	return l, nil
}

func (l *syncedLog) keep(text []byte) error {
	e := entry{text, make(chan error, 1)}
	l.in <- e
	return <-e.kept
}

func (l *syncedLog) write() {
	defer close(l.done)
	for e := range l.in {
		all := []entry{e}
		for more := true; more; {
			select {
			case e, ok := <-l.in:
				if more = ok; ok {
					all = append(all, e)
				}
			default:
				more = false
			}
		}
		var err error
		for _, e := range all {
			_, lost := l.file.Write(append(e.text, '\n'))
			err = errors.Join(err, lost)
		}
		err = errors.Join(err, l.file.Sync())
		for _, e := range all {
			e.kept <- err
		}
	}
}

func (l *syncedLog) close() {
	close(l.in)
	<-l.done
	l.file.Close()
}
