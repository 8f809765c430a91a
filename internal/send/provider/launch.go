package provider

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"time"

	"assay/internal/assay"
)

// Made is the answer to a launching call: a wire type with the job's id.
type Made interface {
	Made() (id string, created time.Time)
}

// Launch makes the one call that costs money, once, and returns what is certain about it.
func (c *Client) Launch(ctx context.Context, call Call, answer Made) Receipt {
	if ctx.Err() != nil {
		return NotSent(context.Cause(ctx))
	}
	call.unhurried = true
	if _, err := c.JSON(punctual(ctx), call, answer); err != nil {
		return Receipt{Status: LaunchStatusOf(err), Err: fmt.Errorf("launch: %w", err)}
	}
	id, created := answer.Made()
	if id == "" {
		return Receipt{Status: Unknown, Err: BadAnswer("launch: the answer names no job")}
	}
	return Receipt{Status: Accepted, Job: id, Created: created}
}

// punctual makes a launch whose deadline has passed end before its first byte goes out, also where the process slept
// through the deadline and the context has not noticed yet: by now another process may have made the job.
func punctual(ctx context.Context) context.Context {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if !time.Now().Before(deadline) {
			got.Conn.Close()
		}
	}})
}

// NotSent returns the receipt of a launch that was given up before anything went out.
func NotSent(err error) Receipt {
	if FaultOf(err) == nil {
		err = fmt.Errorf("launch: %w: %w", err, &assay.Fault{Class: assay.FaultBusy, Code: "not_sent"})
	}
	return Receipt{Status: Refused, Err: err}
}

// Unprepared returns the receipt of a launch whose handle does not hold what Prepare should have put there.
func Unprepared() Receipt {
	return NotSent(fmt.Errorf("launch: %w",
		&assay.Fault{Class: assay.FaultGone, Code: "not_prepared", Message: "nothing is uploaded for this segment"}))
}
