package db

import "testing"

func TestNetworkFileSystemsAreKnownByTheirNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		magic int64
		want  string
	}{{0x6969, "nfs"}, {0xff534d42, "cifs"}, {int64(int32(-11317950)), "cifs"}, {0xef53, ""}, {0x01021994, ""}, {0x9123683e, ""}}
	for _, tt := range tests {
		if got := networkKind(tt.magic); got != tt.want {
			t.Errorf("%#x: got %q, want %q", tt.magic, got, tt.want)
		}
	}
	if err := refuseNetwork(t.TempDir()); err != nil {
		t.Error(err)
	}
}
