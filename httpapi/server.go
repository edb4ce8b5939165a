package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasehold/leasehold/httpapi/discovery"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/shard"
)

// Config is what the door needs beside a store.
type Config struct {
	// Authenticator tells who sent a request. Required.
	Authenticator Authenticator

	// Logger gets what an operator would want to know; requests are logged at Debug. Nil discards.
	Logger hclog.Logger

	// Version is this program's own version, which /version tells beside that of Kubernetes.
	Version string

	// Documents are what discovery.New makes of discovery.Served and Version, for doors in one process to share. Nil makes
	// them, which takes some milliseconds. The gate for CBOR needs its own.
	Documents discovery.Documents

	// Metrics is where the door registers its own metrics and what /metrics serves. Nil means a registry of its own.
	Metrics *prometheus.Registry

	// Extra are more paths, for administrators alone: what belongs to this program and not to Kubernetes.
	Extra map[string]Extra

	// MaxInFlight bounds the requests being answered at one time, watches not counted; one more is answered 429.
	// 0 means DefaultMaxInFlight.
	MaxInFlight int

	// MaxWatches bounds the watches open at one time. 0 means DefaultMaxWatches.
	MaxWatches int

	// MaxListBytes bounds the memory, in bytes and roughly, of the lists being answered at one time; one more is answered 429.
	// 0 means DefaultMaxListBytes.
	MaxListBytes int64

	// ShardedListAndWatch makes lists, watches and deletions of collections heed shardSelector (KEP-5866). Without it the
	// parameter means nothing, whatever it holds.
	ShardedListAndWatch bool

	// CBOR makes it one more encoding of bodies, answers and watches, as kube-apiserver's gate CBORServingAndStorage does. What
	// is stored is the same with and without it.
	CBOR bool

	// LenientMicroTime lets clients write acquireTime, renewTime and pingTime with none to nine digits of a second. What is
	// stored and answered has six, as ever.
	LenientMicroTime bool

	// Deadline is how long a command may take, counted from its arrival, before it ends as an unknown outcome.
	// 0 means DefaultDeadline.
	Deadline time.Duration
}

// Defaults of Config.
const (
	DefaultMaxInFlight = 2000
	DefaultMaxWatches  = 20000
	DefaultDeadline    = 2500 * time.Millisecond
)

// maxBody is the largest request body, in bytes: what kube-apiserver takes.
const maxBody = 3 << 20

// Validate says what is wrong with a Config.
func (c *Config) Validate() error {
	switch {
	case c.Authenticator == nil:
		return errors.New("httpapi: an authenticator is required")
	case c.MaxInFlight < 0:
		return fmt.Errorf("httpapi: max in-flight %d is negative", c.MaxInFlight)
	case c.MaxWatches < 0:
		return fmt.Errorf("httpapi: max watches %d is negative", c.MaxWatches)
	case c.MaxListBytes < 0:
		return fmt.Errorf("httpapi: max list bytes %d is negative", c.MaxListBytes)
	case c.Deadline < 0:
		return fmt.Errorf("httpapi: deadline %v is negative", c.Deadline)
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.MaxInFlight == 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	if c.MaxWatches == 0 {
		c.MaxWatches = DefaultMaxWatches
	}
	if c.MaxListBytes == 0 {
		c.MaxListBytes = DefaultMaxListBytes
	}
	if c.Deadline == 0 {
		c.Deadline = DefaultDeadline
	}
	return c
}

// server answers requests from one store. Its methods that take a request and return a response or an error are the
// verbs; one file holds each.
type server struct {
	config    Config
	store     Store
	logger    hclog.Logger
	routes    *routes
	limits    *limits
	deadlines *deadlines
	metrics   *metrics
	resources []string // of all keys in the store

	encodings  media.Encodings
	patchTypes []types.PatchType
	shardOf    func(text string) (*shard.Selector, error) // understands a query's shardSelector

	renderings renderings
	lists      listBuffers
	listBudget listBudget
	interests  *interests
}

// New returns the door to store. The config must be valid.
func New(config Config, store Store) (http.Handler, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	s := &server{
		config:     config,
		store:      store,
		logger:     config.Logger,
		listBudget: listBudget{limit: config.MaxListBytes},
		limits:     newLimits(config.MaxInFlight, config.MaxWatches),
		deadlines:  newDeadlines(config.Deadline),

		encodings:  media.Standard,
		patchTypes: patchTypes,
		shardOf:    ignoreShard,

		renderings: renderings{limit: maxRenderings},
		interests:  newInterests(store),
	}
	if config.ShardedListAndWatch {
		s.shardOf = parseShard
	}
	documents, err := config.Documents, error(nil)
	if documents == nil || config.CBOR {
		documents, err = discovery.New(config.Version, discovery.Served()...)
	}
	if err != nil {
		return nil, err
	}
	if config.CBOR {
		s.encodings = media.WithCBOR
		s.patchTypes = append(slices.Clip(s.patchTypes), types.ApplyCBORPatchType)
		if err := documents.AddCBOR(); err != nil {
			return nil, err
		}
	}
	kinds, err := servedKinds(config.LenientMicroTime)
	if err != nil {
		return nil, err
	}
	s.resources = resourcesOf(kinds)
	s.routes = s.newRoutes(documents, kinds)
	if s.metrics, err = newMetrics(config.Metrics, s.limits); err != nil {
		return nil, err
	}
	return s, nil
}
