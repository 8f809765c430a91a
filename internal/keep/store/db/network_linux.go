package db

import (
	"fmt"
	"syscall"
)

// networkKinds are the file system types on which SQLite's locks cannot be trusted.
func networkKind(magic int64) string {
	switch magic & 0xffffffff {
	case 0x6969:
		return "nfs"
	case 0xff534d42, 0xfe534d42:
		return "cifs"
	case 0x517b:
		return "smb"
	case 0x01021997:
		return "9p"
	case 0x5346414f:
		return "afs"
	case 0x00c36400:
		return "ceph"
	case 0x0bd00bd0:
		return "lustre"
	case 0x47504653:
		return "gpfs"
	}
	return ""
}

func refuseNetwork(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	if kind := networkKind(int64(st.Type)); kind != "" {
		return errNetwork(dir, kind)
	}
	return nil
}
