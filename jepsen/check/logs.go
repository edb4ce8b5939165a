package check

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// alarms are what no log of a node may say.
var alarms = regexp.MustCompile(`^panic: |\bpanic serving\b|request panicked|\[ERROR\].*\bpanic\w*: |WARNING: DATA RACE|^fatal error: |\bSIGSEGV\b|\[FATAL\]|"@level":"fatal"|all goroutines are asleep|concurrent map (?:writes|read)`)

// Logs judges the log of a node: it may not tell of a panic, a data race or a fatal error. expected are parts of lines that
// are allowed, such as what a node says before it ends because of a disk that the run has broken.
func Logs(node string, in io.Reader, expected ...string) ([]Finding, error) {
	var findings []Finding
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), 16<<20)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if !alarms.MatchString(line) || containsAny(line, expected) {
			continue
		}
		if len(findings) < kept {
			findings = append(findings, Finding{Guarantee: "log", Verdict: Broken, Sentence: fmt.Sprintf("%s wrote in line %d of its log: %.300s", node, number, strings.TrimSpace(line))})
		}
	}
	if err := lines.Err(); err != nil {
		return findings, fmt.Errorf("read the log of %s: %w", node, err)
	}
	return findings, nil
}

func containsAny(line string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}
