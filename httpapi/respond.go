package httpapi

import (
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/leasehold/leasehold/httpapi/media"
)

// writer notes what went out, for the log, the metrics and the pipeline's recover.
type writer struct {
	http.ResponseWriter
	code int // 0 until the header is written
	size int
}

func (w *writer) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *writer) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.size += n
	return n, err
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// respond writes an answer. It looks at the clock once more before the header goes out: a process that was stopped
// and went on must not tell a client of a success that came too late to rely on.
func (s *server) respond(w *writer, q *request, answer *response) {
	if answer.stream != nil {
		q.standardHeaders(w.Header())
		answer.stream(w)
		return
	}
	contentType, body, err := answer.documentType, answer.document, error(nil)
	if body == nil {
		contentType, body, err = s.render(q.kind, q.form, answer)
	}
	if err != nil {
		s.refuse(w, q, err)
		return
	}
	if s.late(q) {
		s.refuse(w, q, errLate)
		return
	}
	// After a write that failed, because the client reset its stream, the HTTP/2 server may still be reading the body.
	if err := s.write(w, q, answer, contentType, body); err == nil && answer.written != nil {
		answer.written()
	}
}

// refuse writes an error's Status.
func (s *server) refuse(w *writer, q *request, err error) {
	if byRouter(err) {
		q.routed = false
	}
	status := statusOf(err)
	answer := &response{code: int(status.Code), value: status, header: http.Header{}}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		answer.header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	if status.Reason == "Forbidden" {
		answer.header.Set("X-Content-Type-Options", "nosniff")
	}
	contentType, body, err := s.render(q.kind, q.form.plain(), answer)
	if err != nil {
		s.logger.Error("rendering a Status failed", "error", err)
	}
	_ = s.write(w, q, answer, contentType, body) // fails when the client is gone
}

func (s *server) write(w *writer, q *request, answer *response, contentType string, body []byte) error {
	header := w.Header()
	q.standardHeaders(header)
	for name, values := range answer.header {
		header[name] = values
	}
	header["Content-Type"] = []string{contentType}
	if len(body) > media.MaxPlain && media.TakesGzip(q.http.Header.Get("Accept-Encoding")) {
		body = media.Gzip(body)
		header["Content-Encoding"], header["Vary"] = []string{"gzip"}, []string{"Accept-Encoding"}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(answer.code)
	_, err := w.Write(body)
	return err
}

// standardHeaders are on every answer. There are no flow schemas here; clients that read their uids only tell by them
// whether two requests were treated alike, and all are.
func (q *request) standardHeaders(header http.Header) {
	header["Audit-Id"] = []string{auditID()}
	header["Cache-Control"] = notCached
	if q.stranger && q.http.ProtoMajor == 2 {
		header["Connection"] = closing
	}
	if warnings := q.told(); len(warnings) > 0 {
		header["Warning"] = warningHeaders(warnings)
	}
	if q.admitted {
		header["X-Kubernetes-Pf-Flowschema-Uid"] = flowUID
		header["X-Kubernetes-Pf-Prioritylevel-Uid"] = flowUID
	}
}

// closing ends an HTTP/2 connection once its streams are answered. Strangers, who would otherwise have cheap requests
// without end on it, get one; to others a new connection is no loss. The header itself does not go out.
var closing = []string{"close"}

var notCached = []string{"no-cache, private"}

// auditID is a random UUID. It is only to be told apart from others, so the kernel is not asked for it.
func auditID() string {
	var id uuid.UUID
	binary.LittleEndian.PutUint64(id[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
	return id.String()
}

var flowUID = []string{"00000000-0000-0000-0000-000000000000"}
