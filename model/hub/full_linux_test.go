package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk bounds the size of files, as a full disk does: the error tells it, nothing
// half-written is left, and afterwards everything works.
func TestFullDisk(t *testing.T) {
	host, _ := registry(t)
	c, ctx := client(t), context.Background()
	dir := t.TempDir()
	weights := strings.Repeat("0123456789", 20_000)
	if err := os.WriteFile(filepath.Join(dir, "w.bin"), []byte(weights), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Push(ctx, dir, host+"/x:1"); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = 100_000
	to := filepath.Join(t.TempDir(), "to")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	pulled := c.Pull(ctx, host+"/x:1", to)
	bigger := append([]byte(weights), '!')
	_, sent := c.Push(ctx, dir, host+"/y:1")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if pulled == nil || !strings.Contains(pulled.Error(), "too large") {
		t.Errorf("pull: %v", pulled)
	}
	if sent == nil {
		t.Error("the registry's disk was full, and nobody said so")
	}
	for _, d := range []string{filepath.Dir(to), filepath.Join(c.Cache, "partial"), filepath.Join(c.Cache, "models")} {
		if files := tree(t, d); len(files) > 0 {
			t.Errorf("%s holds %d files", d, len(files))
		}
	}
	if err := c.Pull(ctx, host+"/x:1", to); err != nil || tree(t, to)["w.bin"] != weights {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "w.bin"), bigger, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Push(ctx, dir, host+"/y:1"); err != nil {
		t.Error(err)
	}
}
