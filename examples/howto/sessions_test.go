package howto

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Whole programs and commands of a page are run from its top to its end in one folder, as its reader does,
// and print what stands there:
//
//   - a block whose fence says file=NAME is written to that file;
//   - a whole program is run where a block of text behind it says what it prints, or by the command
//     "go run .";
//   - in a block of console, lines that begin with $ are commands for a shell, and those behind them what they
//     print. The command tenon is built from this module. One that ends with & goes on until the page is done; what it
//     prints first is compared.
func TestPagesAreRun(t *testing.T) {
	dir := t.TempDir()
	all := pages(t)
	programs := build(t, dir, all)
	for name, list := range all {
		if !runs(list) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &session{t: t, dir: t.TempDir(), bin: dir, port: freePort(t)}
			for i, b := range list {
				if b.file != "" {
					if err := os.WriteFile(filepath.Join(s.dir, b.file), []byte(b.text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				at := fmt.Sprintf("%s:%d", name, b.line)
				switch {
				case whole(b):
					s.program = programs[at]
					if want, ok := printed(list, i); ok {
						s.command(at, "go run .", want)
					} else if b.file == "" {
						t.Errorf("%s: nothing says what the program prints", at)
					}
				case b.lang == "console":
					s.console(at, b.text)
				}
			}
		})
	}
}

// runs reports whether something of a page is run.
func runs(list []block) bool {
	for _, b := range list {
		if whole(b) || b.lang == "console" {
			return true
		}
	}
	return false
}

// build builds the command tenon and the programs of all pages at once, and returns the programs' files by
// where they stand.
func build(t *testing.T, dir string, all map[string][]block) map[string]string {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	programs := map[string]string{}
	args := []string{"build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir + string(filepath.Separator), "./cmd/tenon"}
	for name, list := range all {
		for _, b := range list {
			if !whole(b) {
				continue
			}
			id := "program" + strconv.Itoa(len(programs))
			file := filepath.Join(dir, id+".go")
			if err := os.WriteFile(file, []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
			overlay.Replace[filepath.Join(top, "examples", "howto", id, "main.go")] = file
			programs[fmt.Sprintf("%s:%d", name, b.line)] = filepath.Join(dir, id)
			args = append(args, "./examples/howto/"+id)
		}
	}
	text, err := json.Marshal(overlay)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".curlrc"), []byte("silent\nshow-error\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return programs
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// A session is a page that is being run.
type session struct {
	t       *testing.T
	dir     string // the reader's
	bin     string // of the command tenon
	program string // what "go run ." runs
	port    string // takes the place of 8000
}

// address is the one that pages show.
const address = "127.0.0.1:8000"

// console runs the commands of a block.
func (s *session) console(at, text string) {
	if _, err := exec.LookPath("curl"); err != nil && strings.Contains(text, "$ curl ") {
		s.t.Skipf("%s: the commands need curl", at)
	}
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		cmd, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			if strings.TrimSpace(lines[i]) != "" {
				s.t.Errorf("%s: %q is no command", at, lines[i])
			}
			i++
			continue
		}
		want := ""
		for i++; i < len(lines) && !strings.HasPrefix(lines[i], "$ "); i++ {
			want += lines[i]
		}
		s.command(at, strings.TrimSpace(cmd), want)
	}
}

// command runs a command line and compares what it prints.
func (s *session) command(at, line, want string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	line, background := strings.CutSuffix(line, "&")
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll("exec "+line, address, "127.0.0.1:"+s.port))
	switch {
	case line == "go run .":
		cmd = exec.CommandContext(ctx, s.program)
	case strings.ContainsAny(line, "|;<"):
		cmd.Args[2] = cmd.Args[2][len("exec "):]
	}
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "TENON_ADDR=127.0.0.1:"+s.port, "NO_COLOR=1", "CURL_HOME="+s.bin)
	if !background {
		defer cancel()
		out, err := cmd.CombinedOutput()
		var failed *exec.ExitError
		if err != nil && !(errors.As(err, &failed) && strings.HasPrefix(line, "tenon ")) { // status 1 is a fault in data
			s.t.Errorf("%s: %s: %v", at, line, err)
		}
		s.compare(at, line, string(out), want)
		return
	}
	s.t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was ended
	})
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var first bytes.Buffer
	r := bufio.NewReader(out)
	for range strings.Count(want, "\n") {
		text, err := r.ReadString('\n')
		first.WriteString(text)
		if err != nil {
			break
		}
	}
	s.compare(at, line, first.String(), want)
}

func (s *session) compare(at, line, got, want string) {
	s.t.Helper()
	got = strings.ReplaceAll(got, "127.0.0.1:"+s.port, address)
	if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
		s.t.Errorf("%s: %s\nprints\n%s\nthe page says\n%s", at, line, got, want)
	}
}
