//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Somebody who may neither read the file nor write into the folder is told so by each command, in a line.
func TestNoPermission(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("TestBadInput has a file without permission; only root can be somebody else")
	}
	dir, err := os.MkdirTemp("", "permission")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "tenon")
	if err := copied(program, self); err != nil {
		t.Fatal(err)
	}
	open, secret := put(t, dir, "open.jsonl", people), put(t, dir, "secret.jsonl", people)
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.jsonl")
	const nobody = 65534
	for _, args := range [][]string{
		{"info", secret}, {"cat", secret}, {"head", secret}, {"tail", secret}, {"sample", secret}, {"stats", secret}, {"spec", secret}, {"select", secret}, {"diff", open, secret},
		{"model", secret}, {"graph", secret}, {"view", secret}, {"serve", secret}, {"runs", secret}, {"convert", open, "-o", out}, {"convert", open, "-o", secret}, {"view", open, "-o", out},
	} {
		cmd := process(t, args...)
		cmd.Path, cmd.Dir = program, dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		err := cmd.Run()
		text := errs.String()
		told := strings.Contains(text, "permission denied") || strings.Contains(text, "permission to read it is denied") || args[0] == "runs" // which finds no folder
		if cmd.ProcessState.ExitCode() != 1 || strings.Count(text, "\n") != 1 || !told {
			t.Errorf("%q: %v %q", args, err, text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*out*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// copied makes a program that others may run of another one.
func copied(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}
