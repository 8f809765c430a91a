package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// FaultOf returns the fault an error wraps, or nil. An ended context has none.
func FaultOf(err error) *assay.Fault {
	var f *assay.Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// LaunchStatusOf returns the result of a launch that an error of the call proves. Refused needs proof: the provider's own error
// document with a status of refusal, or a connection that was never made. Everything else may have made a job.
func LaunchStatusOf(err error) LaunchStatus {
	if err == nil {
		return Accepted
	}
	var c *callError
	if !errors.As(err, &c) {
		return Unknown
	}
	switch c.fault.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, 499: // the server may have gone on with it
		return Unknown
	}
	if c.fault.Code == "ConflictException" { // a conflict under another status
		return Unknown
	}
	overloaded := c.fault.Status == 529 && c.fault.Code == "overloaded_error" // turned away at the door
	if c.unsent || c.told && (c.fault.Status/100 == 4 || overloaded) {
		return Refused
	}
	return Unknown
}

// Unsent reports whether an error proves that the request never left this machine.
func Unsent(err error) bool {
	var c *callError
	return errors.As(err, &c) && c.unsent
}

// ErrUnreadable is the error of a live reply under a good status that nothing can be read from: the work was done, and is billed.
var ErrUnreadable = errors.New("the reply cannot be read")

// Lost reports whether an error leaves it open that the provider did the work of a call and bills it: nothing came back, or nothing
// that can be read, only the word of a proxy in between, or that the server broke while it worked.
func Lost(err error) bool {
	if err == nil {
		return false
	}
	if FaultOf(err) == nil { // the context ended
		return true
	}
	var c *callError
	if errors.Is(err, ErrUnreadable) {
		return true
	}
	if !errors.As(err, &c) {
		return false // its own words, under a good status
	}
	switch c.fault.Status {
	case 0:
		return !c.unsent
	case http.StatusRequestTimeout, 499, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, 522, 524:
		return true
	}
	return !c.told && c.fault.Status/100 == 5
}

// undialled looks for an error of the name lookup, of dialling or of the server's certificate: all come before the first
// byte of a request.
func undialled(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &dns) || errors.As(err, &cert)
}

// callError is a call that brought no answer to use.
type callError struct {
	doing  string // method, host and path: no query
	fault  *assay.Fault
	unsent bool   // surely nothing went out
	told   bool   // the provider answered with an error body of its own
	body   []byte // of that answer
	rate   Rate   // from its headers
}

// Error names the call and the fault.
func (e *callError) Error() string { return e.doing + ": " + e.fault.Error() }

// Unwrap gives the fault.
func (e *callError) Unwrap() error { return e.fault }

func doing(req *http.Request) string { return req.Method + " " + req.URL.Host + req.URL.Path }

// transportError is for calls that were cut before or inside their answer.
func (c *Client) transportError(ctx context.Context, req *http.Request, err error) error {
	if FaultOf(err) != nil {
		return err
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its text carries the URL with its query
	}
	text := assay.Clean(c.scrub(req, err.Error()), maxWords)
	c.show(Exchange{Method: req.Method, Host: req.URL.Host, Path: req.URL.Path, Err: text})
	if late, ours := overdue(req.Context()); ours {
		return &callError{doing: doing(req), unsent: undialled(err),
			fault: &assay.Fault{Class: assay.FaultBusy, Code: late.code, Message: late.text}}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing(req), context.Cause(ctx))
	}
	code := "connection"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		code = "truncated"
	}
	return &callError{doing: doing(req), unsent: undialled(err), fault: &assay.Fault{Class: assay.FaultBusy, Code: code, Message: text}}
}

// unsentError is for calls that could not even be made.
func (c *Client) unsentError(call Call, err error) error {
	f := FaultOf(err)
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Code: "not_sent", Message: assay.Clean(c.hideIn(err.Error()), maxWords)}
	}
	return &callError{doing: "call " + c.base.Host + call.Path, fault: f, unsent: true}
}

// statusError is for answers whose status is no answer to use.
func (c *Client) statusError(req *http.Request, resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // a cut error body is still worth its beginning
	return c.saidNo(req, resp, body)
}

// saidNo classifies an error body.
func (c *Client) saidNo(req *http.Request, resp *http.Response, body []byte) error {
	f := dialect.ClassifyAs(resp.StatusCode, resp.Header.Get("X-Amzn-Errortype"), body)
	if got := resp.StatusCode; got == http.StatusNotFound || got == http.StatusGone {
		if req.Method != http.MethodPost { // what was looked at is gone, whatever else the words speak of
			f.Class = assay.FaultGone
		}
	}
	f.Code, f.Message, f.Param = c.scrub(req, f.Code), c.scrub(req, f.Message), c.scrub(req, f.Param)
	f.RetryAfter = max(f.RetryAfter, RetryAfter(resp.Header))
	if id := requestID(resp.Header); id != "" {
		f.RequestID = id
	}
	if resp.StatusCode/100 == 3 {
		f.Code = cmp.Or(f.Code, "redirect")
	}
	return &callError{doing: doing(req), fault: &f, told: resp.StatusCode >= 400 && isDocument(body), body: body, rate: rateOf(resp.Header)}
}

// answerError is for answers of a good status that make no sense.
func (c *Client) answerError(resp *http.Response, what string, err error) error {
	return &callError{doing: doing(resp.Request), fault: &assay.Fault{
		Class: assay.FaultUnknown, Status: resp.StatusCode, Code: "bad_answer", RequestID: requestID(resp.Header),
		Message: assay.Clean(c.scrub(resp.Request, what+": "+err.Error()), maxWords),
	}}
}

// scrub takes every secret out of a text: those of the configuration, and whatever this request carried.
func (c *Client) scrub(req *http.Request, s string) string {
	for _, own := range []string{strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "), req.Header.Get("X-Amz-Security-Token"),
		req.URL.RawQuery} {
		if len(own) >= minSecret {
			s = strings.ReplaceAll(s, own, stars)
		}
	}
	return c.hideIn(s)
}

func (c *Client) hideIn(s string) string {
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, stars)
	}
	return s
}

// maxWords is how much of an error's words goes into a fault.
const maxWords = 500

// minSecret is the shortest text that is taken for a secret: hiding shorter ones would tear holes into every message.
const minSecret = 8

// isDocument reports whether a body is a provider's own error, and not the page of a proxy in between.
func isDocument(body []byte) bool {
	b := bytes.TrimSpace(body)
	return len(b) > 0 && (b[0] == '{' || b[0] == '[') && json.Valid(b) // Google wraps some errors in a list
}

// BadAnswer is the fault of an answer with a good status that lacks what it must have.
func BadAnswer(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, &assay.Fault{Class: assay.FaultUnknown, Code: "bad_answer"})...)
}
