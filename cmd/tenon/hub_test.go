package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/model/saved"
)

// TestHub keeps a model in a registry that is another run of the program.
func TestHub(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("TENON_HUB_CACHE", filepath.Join(dir, "cache"))
	keep(t, filepath.Join(dir, "m.zip"), 2)
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"tenon", "hub", "serve", "--addr", "127.0.0.1:0", filepath.Join(dir, "registry")}, &program{stdout: out, stderr: io.Discard})
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "http://"), "/v2/")
	tenon := func(status int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), append([]string{"tenon", "hub"}, args...), &program{stdout: &stdout, stderr: &stderr}); got != status {
			t.Fatalf("%v: status %d, want %d: %s", args, got, status, &stderr)
		}
		return strings.TrimSpace(stdout.String())
	}
	digest := tenon(0, "push", filepath.Join(dir, "m.zip"), host+"/team/m:1")
	tenon(0, "tag", host+"/team/m@"+digest, "stable", "best")
	if got := tenon(0, "copy", host+"/team/m:best", host+"/other/m"); got != digest {
		t.Errorf("the copy is %s, want %s", got, digest)
	}
	if got := tenon(0, "list", host+"/team/m"); got != "1\nbest\nstable" {
		t.Errorf("tags %q", got)
	}
	if got := tenon(0, "list", host); got != "other/m\nteam/m" {
		t.Errorf("repositories %q", got)
	}
	serving, say := io.Pipe()
	end, noMore := context.WithCancel(t.Context())
	served := make(chan int, 1)
	go func() {
		served <- run(end, []string{"tenon", "serve", "--addr", "127.0.0.1:0", "--drain", "0s", "--log", "off", host + "/team/m:best", "by=hub://" + host + "/team/m@" + digest}, &program{stdout: say, stderr: io.Discard})
		say.Close()
	}()
	url, err := bufio.NewReader(serving).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	answers := func(name, want string) {
		t.Helper()
		res, err := http.Post(strings.TrimSpace(url)+"call/"+name, "application/json", strings.NewReader(`{"x0":[1,2]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != want {
			t.Errorf("%s: %s %v, want %s", name, b, err, want)
		}
	}
	answers("m", `{"y":[2.0,4.0]}`)
	answers("by", `{"y":[2.0,4.0]}`)
	keep(t, filepath.Join(dir, "next", "m.zip"), 3)
	tenon(0, "push", filepath.Join(dir, "next", "m.zip"), host+"/team/m:best")
	if res, err := http.Post(strings.TrimSpace(url)+"v2/repository/models/m/load", "application/json", nil); err != nil || res.StatusCode != 200 {
		t.Error(res, err)
	}
	answers("m", `{"y":[3.0,6.0]}`)
	answers("by", `{"y":[2.0,4.0]}`)
	noMore()
	if status := <-served; status != 0 {
		t.Errorf("the server ended with %d", status)
	}
	to := filepath.Join(dir, "pulled")
	tenon(0, "pull", host+"/team/m:stable", to)
	stop()
	if status := <-ended; status != 0 {
		t.Errorf("the registry ended with %d", status)
	}
	if m, err := saved.OpenModel(to); err != nil || m.Function("scale") == nil {
		t.Error(err)
	}
	tenon(0, "fetch", "--offline", host+"/team/m:stable")
	tenon(1, "fetch", "--offline", host+"/team/m:1")
	tenon(2, "pull")
	t.Chdir(dir)
	for ref, want := range map[string]string{"h:1/a/b:c": "b", "h/a@sha256:12": "a", "hf:org/name@main": "name", "oci:x/lay:air": "lay"} {
		if got := ownName(ref); got != want {
			t.Errorf("%s is pulled to %s, want %s", ref, got, want)
		}
	}
}
