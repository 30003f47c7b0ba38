package browser

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A Tab is a page in Chromium that a test uses like a person: by keyboard and pointer. It speaks the
// Chrome DevTools Protocol through a pipe (https://chromedevtools.github.io/devtools-protocol).
type Tab struct {
	t       testing.TB
	w       *os.File
	answers *bufio.Reader
	session string
	last    int
}

// Open opens a page in a window of a size such as "900,640". The test is skipped if no Chromium is
// installed.
func Open(t testing.TB, url, size string, dark bool) *Tab {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Skip(err)
	}
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), most)
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append(flags(t, dark), "--remote-debugging-pipe", "--window-size="+size, "about:blank")...)
	cmd.ExtraFiles = []*os.File{in, out}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	t.Cleanup(func() {
		fmt.Fprint(w, `{"id":0,"method":"Browser.close"}`+"\x00") // if it does not exit, it is killed
		cmd.Wait()
		w.Close()
		r.Close()
		cancel()
	})
	b := &Tab{t: t, w: w, answers: bufio.NewReader(r)}
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	session, _ := b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	b.session = session
	b.call("Page.enable", nil)
	b.call("Page.navigate", map[string]any{"url": url})
	b.Wait(`document.readyState === "complete" && location.href !== "about:blank"`)
	return b
}

// call calls a method of the protocol. It ignores events.
func (b *Tab) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.w.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		text, err := b.answers.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result map[string]any
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		if answer.ID != b.last {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		return answer.Result
	}
}

// Eval returns the value of a JavaScript expression as JSON represents it; it awaits promises.
func (b *Tab) Eval(expression string) any {
	b.t.Helper()
	answer := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if e, ok := answer["exceptionDetails"]; ok {
		b.t.Fatalf("%s: %v", expression, e)
	}
	result, _ := answer["result"].(map[string]any)
	return result["value"]
}

// Wait waits until an expression is true, and fails the test if it is not after 20 seconds.
func (b *Tab) Wait(expression string) {
	b.t.Helper()
	const rounds, each = 20, 1000 // milliseconds
	for range rounds {
		if b.Eval(fmt.Sprintf(`new Promise(done => {
			const end = performance.now() + %d, look = () => (%s) ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 10);
			look();
		})`, each, expression)) == true {
			return
		}
	}
	b.t.Fatalf("%s did not become true", expression)
}

// Press presses a key, such as Tab, Enter, Space or ArrowRight.
func (b *Tab) Press(key string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Space": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	code, ok := codes[key]
	if !ok {
		b.t.Fatalf("unknown key %q", key)
	}
	event := map[string]any{"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	if text := map[string]string{"Enter": "\r", "Space": " "}[key]; text != "" {
		event["type"], event["text"] = "keyDown", text
		if key == "Space" {
			event["key"] = " "
		}
	}
	b.call("Input.dispatchKeyEvent", event)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": event["key"], "code": key, "windowsVirtualKeyCode": code})
}

// Click clicks the middle of the first element that matches a selector.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	quoted, err := json.Marshal(selector)
	if err != nil {
		b.t.Fatal(err)
	}
	at, ok := b.Eval(`(() => {
		const e = document.querySelector(` + string(quoted) + `);
		if (!e) return null;
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`).([]any)
	if !ok {
		b.t.Fatalf("no element matches %s", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1})
	}
}

// Picture returns a screenshot of the page.
func (b *Tab) Picture() image.Image {
	b.t.Helper()
	data, _ := b.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string)
	img, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		b.t.Fatal(err)
	}
	return img
}
