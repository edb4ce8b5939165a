package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Check is a corpus and the server to hold it against.
type Check struct {
	Corpus *Corpus
	Server Server
	// Chosen says which cases to hold. Nil means all.
	Chosen func(Case) bool
	// AtOnce bounds the cases under way at one time. 0 means DefaultAtOnce.
	AtOnce int
	// Patience is how long one answer, or the events of a watch, may take. 0 means DefaultPatience.
	Patience time.Duration
}

// Defaults of a Check. Many cases at once, since they spend most of their time waiting.
const (
	DefaultAtOnce   = 24
	DefaultPatience = 75 * time.Second
)

// Run holds all cases and returns what came of them. Its error says that there was nothing to check.
func (c Check) Run(ctx context.Context) (*Report, error) {
	if err := c.Server.Validate(); err != nil {
		return nil, err
	}
	chosen := c.chosen()
	if len(chosen) == 0 {
		return nil, errors.New("conformance: no case is chosen")
	}
	if c.AtOnce == 0 {
		c.AtOnce = DefaultAtOnce
	}
	if c.Patience == 0 {
		c.Patience = DefaultPatience
	}
	clients := c.Server.newClients()
	defer clients.close()
	outcomes := make([]outcome, len(chosen))
	places := make(chan struct{}, c.AtOnce)
	var running sync.WaitGroup
	for _, i := range longestFirst(chosen) {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			outcomes[i] = c.hold(ctx, clients, chosen[i], i)
		})
	}
	running.Wait()
	return newReport(c.Corpus.Exceptions, outcomes), nil
}

// hold holds one case, and anew where the outcome of a step stays unknown.
func (c Check) hold(ctx context.Context, clients clients, one Case, firstNode int) outcome {
	const attempts = 3
	var again int
	for attempt := 1; ; attempt++ {
		conversation := newConversation(&c.Server, clients, firstNode, c.Patience)
		answers, err := conversation.hold(ctx, one)
		again += int(conversation.again.Load())
		if attempt < attempts && errors.Is(err, errUnknownOutcome) {
			again++
			continue
		}
		o := c.Corpus.judge(one, answers, err)
		o.again = again
		return o
	}
}

func (c Check) chosen() []Case {
	var chosen []Case
	for _, one := range c.Corpus.Cases {
		if c.Chosen == nil || c.Chosen(one) {
			chosen = append(chosen, one)
		}
	}
	return chosen
}

// longestFirst returns the order to start cases in: those that wait for the server to forget before all others.
func longestFirst(cases []Case) []int {
	var waiting, rest []int
	for i, one := range cases {
		if one.Waits() {
			waiting = append(waiting, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(waiting, rest...)
}

// outcome is what came of one case.
type outcome struct {
	id          string
	answers     []Answer
	differences []Difference
	excepted    []string // the names of exceptions that occurred, one for each answer
	messages    Score
	headers     Score
	again       int // how often a busy server was asked again
}

// judge compares a case's answers with what was recorded, or with what an exception has in its place.
func (c *Corpus) judge(one Case, got []Answer, failure error) outcome {
	o := outcome{id: one.ID(), answers: got}
	recorded := c.answers[one.ID()]
	if failure == nil && len(got) != len(recorded) {
		failure = fmt.Errorf("%d answers, recorded are %d", len(got), len(recorded))
	}
	for i, want := range recorded[:min(len(got), len(recorded))] {
		instead, name, excepted := c.exception(one.ID(), want.Step)
		switch {
		case !excepted:
			o.differences = append(o.differences, compareAnswers(want, got[i])...)
		case len(compareAnswers(want, got[i])) == 0:
			o.differences = append(o.differences, Difference{Step: want.Step, Request: want.Request,
				Place: "exception " + name, Want: "an answer of our own", Got: "the recorded one: the exception did not occur"})
		default:
			instead.Request = want.Request
			want = instead
			o.differences = append(o.differences, compareAnswers(want, got[i])...)
			o.excepted = append(o.excepted, name)
		}
		messages, headers := compareSoft(want, got[i])
		o.messages.add(messages)
		o.headers.add(headers)
	}
	if failure != nil {
		o.differences = append(o.differences, Difference{Place: "error", Got: failure.Error()})
	}
	o.nameCase()
	return o
}

func (o *outcome) nameCase() {
	for _, list := range [][]Difference{o.differences, o.messages.Differences, o.headers.Differences} {
		for i := range list {
			list[i].Case = o.id
		}
	}
}
