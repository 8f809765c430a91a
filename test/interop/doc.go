// Package interop drives the simulator with the providers' official client libraries, unchanged.
//
// It is a module of its own, so that those libraries do not weigh on the product. All of it is tests.
package interop
