// Package browser walks through the dashboard with a real browser: Debian's Chromium, driven by chromedp.
//
// It is a module of its own, so that what drives a browser is no part of the program's dependencies.
package browser
