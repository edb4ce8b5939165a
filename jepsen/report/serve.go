package report

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // for the page
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed runs.html
var runsText string

const (
	defaultAddress = "127.0.0.1:8750"
	runsOnPage     = 200
	linesAround    = 40
)

// Serve shows the runs of a store to browsers until ctx ends. It listens on loopback unless addr names another host; what
// it shows it shows to everybody who reaches it. ready, which may be nil, is told the address of the page.
func Serve(ctx context.Context, store, addr string, ready func(url string)) error {
	host, port, err := net.SplitHostPort(cmp.Or(addr, defaultAddress))
	if err != nil {
		return fmt.Errorf("serve the runs: %w", err)
	}
	host = cmp.Or(host, "127.0.0.1")
	root, err := os.OpenRoot(store)
	if err != nil {
		return fmt.Errorf("serve the runs: %w", err)
	}
	defer root.Close()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("serve the runs: %w", err)
	}
	handler := Handler(root)
	if isLoopback(host) {
		handler = loopbackOnly(handler)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	if ready != nil {
		ready("http://" + listener.Addr().String() + "/")
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve the runs: %w", err)
	case <-ctx.Done():
	}
	_ = server.Close() // what a browser was still reading it can ask for again
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the runs: %w", err)
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// loopbackOnly refuses requests that name another host, as those of a page elsewhere whose name was pointed at this machine.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if !isLoopback(host) {
			http.Error(w, "ask for localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Handler answers with the list of a store's runs and with what lies in their folders; no secrets of a cluster, nothing that
// begins with a dot, and nothing outside of root, also not through a link.
func Handler(root *os.Root) http.Handler {
	b := &browser{files: root.FS()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.list)
	mux.HandleFunc("GET /runs/{path...}", b.file)
	return mux
}

type browser struct {
	files fs.FS
}

// row is one run in the list.
type row struct {
	Folder string
	Results
	Done   bool // it has results
	Faults int
}

// list shows the runs, the newest first, of one verdict if the query says so.
func (b *browser) list(w http.ResponseWriter, r *http.Request) {
	rows, err := b.runs()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	counts := make(map[string]int)
	for i := range rows {
		counts[string(rows[i].Verdict)]++
	}
	all := len(rows)
	wanted := r.FormValue("verdict")
	if wanted != "" {
		rows = slices.DeleteFunc(rows, func(one row) bool { return string(one.Verdict) != wanted })
	}
	from, err := strconv.Atoi(cmp.Or(r.FormValue("from"), "0"))
	if err != nil || from < 0 {
		http.Error(w, "from is no number", http.StatusBadRequest)
		return
	}
	from = min(from, len(rows))
	to := min(from+runsOnPage, len(rows))
	b.render(w, map[string]any{"Rows": rows[from:to], "Counts": counts, "All": all, "Verdict": wanted, "From": from, "To": to, "Of": len(rows)})
}

func (b *browser) render(w http.ResponseWriter, data any) {
	t, err := template.New("runs").Funcs(words()).Parse(runsText)
	var out bytes.Buffer
	if err == nil {
		err = t.Execute(&out, data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	secure(w, "text/html; charset=utf-8", false)
	_, _ = w.Write(out.Bytes())
}

// runs are all folders with results or a history, the newest first.
func (b *browser) runs() ([]row, error) {
	folders, err := fs.ReadDir(b.files, ".")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, folder := range folders {
		if !folder.IsDir() || strings.HasPrefix(folder.Name(), ".") {
			continue
		}
		one := row{Folder: folder.Name()}
		results, err := readResults(b.files, path.Join(folder.Name(), ResultsFile))
		switch {
		case err == nil:
			one.Results, one.Done = results, true
			for _, f := range results.Faults {
				one.Faults += f.Count
			}
		case errors.Is(err, fs.ErrNotExist):
			info, err := fs.Stat(b.files, path.Join(folder.Name(), "history.jsonl"))
			if err != nil {
				continue // no run
			}
			one.Run.Began = info.ModTime()
			one.Sentence = "not judged yet"
		default:
			one.Sentence = err.Error()
		}
		rows = append(rows, one)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(b.Run.Began.Compare(a.Run.Began), strings.Compare(b.Folder, a.Folder))
	})
	return rows, nil
}

// file shows a file or folder of a run.
func (b *browser) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("path"), "/")
	if !fs.ValidPath(name) || slices.ContainsFunc(strings.Split(name, "/"), private) {
		http.NotFound(w, r)
		return
	}
	info, err := fs.Stat(b.files, name)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	if info.IsDir() {
		if _, err := fs.Stat(b.files, path.Join(name, "index.html")); err == nil && strings.HasSuffix(r.URL.Path, "/") {
			name = path.Join(name, "index.html")
		} else if strings.HasSuffix(r.URL.Path, "/") {
			b.folder(w, name)
			return
		} else {
			http.Redirect(w, r, path.Base(name)+"/", http.StatusFound)
			return
		}
	}
	if line, err := strconv.ParseInt(r.FormValue("line"), 10, 64); err == nil && path.Base(name) == "history.jsonl" {
		b.lines(w, name, line)
		return
	}
	file, err := b.files.Open(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	content, seekable := file.(interface {
		Read([]byte) (int, error)
		Seek(int64, int) (int64, error)
	})
	if !seekable {
		http.NotFound(w, r)
		return
	}
	secure(w, contentType(name), path.Base(name) == "timeline.html")
	http.ServeContent(w, r, "", info.ModTime(), content)
}

// private says whether a folder or file of that name is not for show.
func private(name string) bool {
	return strings.HasPrefix(name, ".") || name == "secrets" || path.Ext(name) == ".key"
}

// folder lists what lies in a folder.
func (b *browser) folder(w http.ResponseWriter, name string) {
	entries, err := fs.ReadDir(b.files, name)
	if err != nil {
		http.Error(w, "not to be read", http.StatusInternalServerError)
		return
	}
	var names []string
	for _, e := range entries {
		switch {
		case private(e.Name()):
		case e.IsDir():
			names = append(names, e.Name()+"/")
		default:
			names = append(names, e.Name())
		}
	}
	b.render(w, map[string]any{"Folder": name, "Names": names})
}

// lines shows a line of a history among its neighbours.
func (b *browser) lines(w http.ResponseWriter, name string, number int64) {
	file, err := b.files.Open(name)
	if err != nil {
		http.Error(w, "not to be read", http.StatusInternalServerError)
		return
	}
	defer file.Close()
	lines, err := excerpt(file, number-linesAround, number+linesAround)
	if err != nil {
		http.Error(w, "not to be read", http.StatusInternalServerError)
		return
	}
	b.render(w, map[string]any{"Folder": name, "Lines": lines, "Line": number})
}

// contentType takes what it does not know for text, so that a browser shows it.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".zst", ".gz", ".tar", ".db", ".bin":
		return "application/octet-stream"
	default:
		return "text/plain; charset=utf-8"
	}
}

// secure sets headers that keep a page from doing anything but being shown; a timeline works by script.
func secure(w http.ResponseWriter, contentType string, script bool) {
	policy := "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	if script {
		policy += "; script-src 'unsafe-inline'"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-cache")
}
