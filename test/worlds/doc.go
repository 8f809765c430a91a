// Package worlds holds the whole product to its promises under one seed. A world is a study, providers that fail, a person who types
// commands, and a machine that is killed; all of it follows from a number. The program in it is the real one, in virtual time and over the
// built-in simulator, which knows what it billed. Laws then compare what the program reports with what happened.
package worlds
