package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// work has clients work until ctx ends.
func (p plan) work(ctx context.Context, bed *testbed, recorder *history.Recorder) error {
	var all sync.WaitGroup
	for i := range p.clients {
		w := &worker{bed: bed, recorder: recorder, name: fmt.Sprintf("c%d", i), rand: rand.New(rand.NewPCG(p.seed, uint64(100+i)))}
		every := time.Duration(float64(p.clients) / p.rate * float64(time.Second))
		all.Go(func() {
			for {
				select {
				case <-time.After(time.Duration(w.rand.Int64N(int64(2 * every)))):
				case <-ctx.Done():
					return
				}
				w.step()
			}
		})
	}
	for i, node := range bed.Nodes() {
		w := &worker{bed: bed, recorder: recorder, name: fmt.Sprintf("w%d", i)}
		all.Go(func() { w.watch(ctx, node) })
	}
	all.Wait()
	return nil
}

type worker struct {
	bed      *testbed
	recorder *history.Recorder
	rand     *rand.Rand
	name     string
	retired  int
	n        int
	known    map[string]string
}

const leases = "http://node/apis/coordination.k8s.io/v1/namespaces/a/leases"

func (w *worker) step() {
	node := pick(w.rand, w.bed.Nodes()...)
	key := fmt.Sprintf("k%d", w.rand.IntN(10))
	if w.known == nil {
		w.known = make(map[string]string)
	}
	w.n++
	id := fmt.Sprintf("%s-%d", w.name, w.n)
	request := &history.Request{Key: "a/" + key}
	body := fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"%s","namespace":"a","annotations":{"jepsen/id":"%s"},"resourceVersion":"%s"},"spec":{"holderIdentity":"%s"}}`, key, id, w.known[key], w.name)
	f, method, url := history.Get, "GET", leases+"/"+key
	switch w.rand.IntN(5) {
	case 0:
		f, method, url, request.ID = history.Create, "POST", leases, id
		body = strings.Replace(body, `"resourceVersion":"`+w.known[key]+`"`, `"resourceVersion":""`, 1)
	case 1, 2:
		if w.known[key] == "" {
			return
		}
		f, method, request.ID, request.Revision = history.Update, "PUT", id, w.known[key]
	case 3:
		if w.rand.IntN(4) == 0 {
			f, method, request.ID, body = history.Delete, "DELETE", id, ""
		}
	}
	if f == history.Get {
		body = ""
	}
	process := w.name + "." + strconv.Itoa(w.retired)
	w.recorder.Record(history.Event{Process: process, Type: history.Invoke, F: f, Node: node, Request: request})
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer := &history.Answer{}
	outcome := history.Info
	response, err := w.bed.client(node).Do(r)
	var object struct {
		Metadata struct {
			UID, ResourceVersion string
			Annotations          map[string]string
		}
	}
	if err == nil {
		err = json.NewDecoder(response.Body).Decode(&object)
		response.Body.Close()
		answer.Code = response.StatusCode
	}
	switch {
	case err != nil:
		answer.Error = err.Error()
	case answer.Code/100 == 2:
		outcome = history.OK
		rv, _ := strconv.ParseUint(object.Metadata.ResourceVersion, 10, 64)
		answer.Version = &history.Version{Key: "a/" + key, UID: object.Metadata.UID, Revision: rv, ID: object.Metadata.Annotations["jepsen/id"]}
		w.known[key] = object.Metadata.ResourceVersion
	case answer.Code/100 == 4 || answer.Code == 503:
		outcome = history.Fail
	}
	if outcome == history.Info {
		w.retired++
	}
	w.recorder.Record(history.Event{Process: process, Type: outcome, F: f, Node: node, Answer: answer})
}

func (w *worker) watch(ctx context.Context, node string) {
	from := ""
	for n := 0; ctx.Err() == nil; n++ {
		process := fmt.Sprintf("%s.%d", w.name, n)
		w.recorder.Record(history.Event{Process: process, Type: history.Invoke, F: history.Watch, Node: node, Request: &history.Request{Revision: from}})
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://node/apis/coordination.k8s.io/v1/leases?watch=true&allowWatchBookmarks=true&resourceVersion="+from, nil)
		response, err := w.bed.client(node).Do(r)
		if err != nil || response.StatusCode != 200 {
			if err == nil {
				response.Body.Close()
			}
			w.recorder.Record(history.Event{Process: process, Type: history.Fail, Answer: &history.Answer{}})
			from = ""
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		w.recorder.Record(history.Event{Process: process, Type: history.OK, Answer: &history.Answer{Code: 200}})
		in := bufio.NewScanner(response.Body)
		for in.Scan() {
			var e struct {
				Type   string
				Object struct {
					Metadata struct {
						Name, ResourceVersion string
						Annotations           map[string]string
					}
				}
			}
			if json.Unmarshal(in.Bytes(), &e) != nil {
				break
			}
			rv, _ := strconv.ParseUint(e.Object.Metadata.ResourceVersion, 10, 64)
			from = e.Object.Metadata.ResourceVersion
			w.recorder.Record(history.Event{Process: process, Type: history.Seen, Change: &history.Change{Type: e.Type, Revision: rv, Version: &history.Version{Key: "a/" + e.Object.Metadata.Name, Revision: rv, ID: e.Object.Metadata.Annotations["jepsen/id"]}}})
		}
		response.Body.Close()
		w.recorder.Record(history.Event{Process: process, Type: history.End, Note: history.EndedByCut})
	}
}
