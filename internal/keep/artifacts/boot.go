package artifacts

import (
	"os"
	"strings"
)

// Boot names the period in which flushed records of a log are still known, synced or not: the same name now and when
// they were flushed means that none is missing. Empty: not known. A place that syncs whatever is flushed has one name
// for ever.
func Boot(p Place) string {
	if b, ok := p.(interface{ Boot() string }); ok {
		return b.Boot()
	}
	return "kept"
}

// Boot names this machine since its last start.
func (f *Folder) Boot() string {
	if f.Started != "" {
		return f.Started
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux has it
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
