# Everything here works with Go and make alone, except what asks for kubectl or a C compiler and says so.

GO      ?= go
DIR     ?= .leasehold
PORT    ?= 7443
ROUNDS  ?= 5
SECONDS ?= 10
# All but uses of what is deprecated: the wire has fields that no client should set any more, and raft's has one too.
CHECKS  := -checks inherit,-SA1019
E2E     := cmd/leasehold/e2e
# Stamped with the commit, whatever the environment says: a run of the chaos harness tells what it tried.
BUILD   := $(GO) build -buildvcs=auto
# The tag of what only the chaos harness may use.
SEEDED  := jepsenbugs
# The tests that hold the recorded cases. They are run apart, since their totals are worth reading when they pass too.
HELD    := '^Test(Gated)?(InProcess|ThreeNodes)$$'

.DEFAULT_GOAL := help
.PHONY: help build instrumented run test conformance seeded race lint clients e2e bench fuzz nightly jepsen jepsen-night

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build bin/leasehold and bin/jepsen
	$(BUILD) -o bin/ ./cmd/leasehold ./cmd/jepsen

instrumented: ## Build bin/leasehold-instrumented, with seeded faults and a clock to be set: for the chaos harness only
	$(BUILD) -tags $(SEEDED) -o bin/leasehold-instrumented ./cmd/leasehold

run: build ## Build, then run three nodes on loopback until interrupted (DIR, PORT)
	bin/leasehold dev --dir $(DIR) --base-port $(PORT)

test: ## Test everything that needs no root and no installation
	$(GO) test -skip $(HELD) ./...
	$(MAKE) conformance

conformance: ## Hold the recorded cases of a kube-apiserver with Leasehold, telling each difference and the totals
	$(GO) test -v -run $(HELD) ./httpapi/conformance ./cmd/leasehold/conformance

seeded: ## Test that each seeded fault breaks what it says, in binaries for the chaos harness alone
	$(GO) test -tags $(SEEDED) -run '^Test(Seeded|Instrumented)' ./fsm/... ./cluster ./httpapi/... ./cmd/leasehold

race: ## Test fsm and cluster under the race detector (needs a C compiler)
	$(GO) test -race ./fsm/... ./cluster/...

lint: ## Check format, vet, staticcheck, and the direction of imports
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt wants to change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	cd $(E2E) && $(GO) vet ./...
	$(GO) tool staticcheck $(CHECKS) ./...
	$(GO) vet -tags $(SEEDED) ./fsm/... ./cluster/... ./httpapi/... ./cmd/leasehold/...
	$(GO) tool staticcheck -tags $(SEEDED) $(CHECKS) ./fsm/... ./cluster/... ./httpapi/... ./cmd/leasehold/...
	$(GO) test -count=1 -run '^TestLayout' ./cmd/leasehold

clients: ## Install the Python and JavaScript clients that e2e tests use (as root)
	.ci/clients

e2e: ## Test real processes with real clients (tests of a client that is not installed skip)
	cd $(E2E) && $(GO) test -count=1 -timeout 20m ./...

jepsen: build ## Break a cluster for five minutes and judge it; the pictures are under store/ (jepsen/README.md)
	bin/jepsen run --workload mixed --nemesis kill,partition,pause,packet,transfer --time-limit 4m --rate 500

jepsen-night: build instrumented ## Two hours of clusters under faults, every seeded bug, thirty simulated days; fills the ledger
	bin/jepsen matrix --budget 2h --keep-going --ledger jepsen/ledger.jsonl || test $$? = 3
	bin/jepsen selftest --slow --seeds 10 --ledger jepsen/ledger.jsonl
	bin/jepsen sim --hours 720 --seed $$(date -u +%Y%m%d) --ledger jepsen/ledger.jsonl

bench: build ## Measure rounds of every mode against echo, on a cluster of its own (ROUNDS, SECONDS)
	bin/leasehold bench suite --rounds $(ROUNDS) --duration $(SECONDS)s

# In executions rather than in time: a run that its time ends is sometimes reported as one that failed. Go's minimising of
# what merely reaches new code takes up to a minute for each find, and nobody looks at the result.
fuzz: ## Fuzz every fuzz target for a short while each (FUZZTIME, in executions)
	@set -e; for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "fuzz $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-3000x} -fuzzminimizetime 10x $$package; \
		done; \
	done

nightly: ## Repeat what finds rare faults: kills, races, long fuzzing
	$(GO) test -race -count=3 ./...
	cd $(E2E) && LEASEHOLD_E2E_KILLS=20 LEASEHOLD_E2E_KUBECTLS=all $(GO) test -count=1 -timeout 120m ./...
	JEPSEN_CHECK_HISTORIES=3000 $(GO) test -count=1 -timeout 60m ./jepsen/check
	$(MAKE) fuzz FUZZTIME=200000x
