package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/generated"
)

// TestReference writes docs/reference/command.md from the commands, and docs/reference/formats.md from the table of formats.
func TestReference(t *testing.T) {
	how := "go test ./cmd/tenon -run Reference -update"
	folder := filepath.Join("..", "..", "docs", "reference")
	var b strings.Builder
	fmt.Fprintf(&b, "# The command, flag by flag\n\nWritten by `%s`. What holds for all commands is in [tool.md](../tool.md).\n", how)
	for _, c := range rootCommand(&program{}).Commands {
		manual(&b, c, "tenon", 2)
	}
	generated.File(t, filepath.Join(folder, "command.md"), b.String(), how)

	b.Reset()
	fmt.Fprintf(&b, `# Formats of files

Written by `+"`%s`"+`. Formats are told by the first bytes of a file, compressed (gzip, zstd) or not, and where those tell nothing, by its name.
Records are what `+"`tenon head`, `select` and `convert`"+` work on; tensors what `+"`tenon model`"+` lists. A format that streams is read from a pipe as it comes.
Each has a package of its own: [the pages on data](../README.md#recipes).

| format | names of files | told by | records | tensors | streams |
|---|---|---|---|---|---|
`, how)
	for _, f := range formats.Table {
		told := "name"
		if f.Match != nil {
			told = "first bytes"
		}
		records := join(f.Rows != nil, "read", f.Create != nil, "written")
		tensors := join(f.Model != nil, "read", f.Tensors != nil, "written")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.Name, strings.Join(f.Suffixes, " "), told, records, tensors, join(f.Streams, "yes", false, ""))
	}
	generated.File(t, filepath.Join(folder, "formats.md"), b.String(), how)
}

func join(a bool, x string, b bool, y string) string {
	var out []string
	if a {
		out = append(out, x)
	}
	if b {
		out = append(out, y)
	}
	return strings.Join(out, ", ")
}

// manual is a command with its flags, and those below it.
func manual(b *strings.Builder, c *cli.Command, above string, level int) {
	if c.Hidden || c.Name == "help" {
		return
	}
	name := above + " " + c.Name
	fmt.Fprintf(b, "\n%s %s\n\n%s.\n\n```text\n%s\n```\n", strings.Repeat("#", level), name, strings.ToUpper(c.Usage[:1])+c.Usage[1:], strings.TrimSpace(name+" [options] "+c.ArgsUsage))
	if c.Description != "" {
		b.WriteString("\n" + paragraphs(c.Description))
	}
	rows := 0
	for _, f := range c.Flags {
		d, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		if rows++; rows == 1 {
			b.WriteString("\n| flag | what |\n|---|---|\n")
		}
		var names []string
		for _, n := range f.Names() {
			names = append(names, "`"+strings.Repeat("-", min(len(n), 2))+n+"`")
		}
		usage := strings.ReplaceAll(strings.ReplaceAll(d.GetUsage(), "`", ""), "|", `\|`)
		if text := d.GetDefaultText(); text != "" && text != `""` && text != "false" {
			usage += " (default: " + strings.Trim(text, `"`) + ")"
		}
		if vars := d.GetEnvVars(); len(vars) > 0 {
			usage += " [$" + strings.Join(vars, ", $") + "]"
		}
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(names, ", "), usage)
	}
	for _, sub := range c.Commands {
		manual(b, sub, name, level+1)
	}
}

// paragraphs are those of a description; lines that are indented are command lines.
func paragraphs(text string) string {
	var b strings.Builder
	code := false
	for _, line := range strings.Split(text, "\n") {
		if indented := strings.HasPrefix(line, "   "); indented != code && line != "" {
			b.WriteString("```" + map[bool]string{true: "text", false: ""}[indented] + "\n")
			if code = indented; !code {
				b.WriteString("\n")
			}
		}
		b.WriteString(strings.TrimPrefix(line, "   ") + "\n")
	}
	if code {
		b.WriteString("```\n")
	}
	return b.String()
}
