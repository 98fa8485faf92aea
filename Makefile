# `make` lists the targets. On a fresh Debian or Ubuntu with git, make, curl, Go
# and Node, every target installs what it needs first.

OUT  ?= out
BIN  := bin/agentvoice-daemon
TOOL := $(OUT)/tools
# Keeps test conversations out of the user's session record.
export AGENTVOICE_RECORD := $(abspath $(OUT))/record
export AGENTVOICE_WATCH := $(abspath $(OUT))/watch

# The length of the benchmark's conversation, and the time per benchmark.
BENCH_MINUTES ?= 2
BENCHTIME     ?= 300ms

# Packages that compile and pass their tests without a C compiler or libraries.
CORE := ./csm/... ./session/... ./internal/contract ./copilot ./copilot/editor ./copilot/offline ./copilot/spoken ./protocol/... ./internal/timeline ./internal/wer ./audio ./audio/aec3 ./audio/dsp ./audio/wavio ./audio/localrealtime/machine ./internal/prove/behaviour
# Those of them that start no goroutine, so that the race detector has nothing to find, and
# csmtest, which test-long runs under it. Their tests run without cgo.
PURE := internal/archtest internal/contract csm csm/connection csm/csmtest csm/history csm/speech csm/turn session copilot copilot/offline protocol internal/timeline internal/wer audio/localrealtime/machine internal/prove/behaviour

GOLANGCI_LINT_VERSION := v2.12.2
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/agentvoice/tools
LINT  := $(CACHE)/golangci-lint-$(GOLANGCI_LINT_VERSION)

# Without the tag nolibopusfile the Opus binding needs libopusfile, which nothing here uses. With
# noapm the program has AEC3 in place of WebRTC's library, which deps installs where dpkg is. Without
# paths in the binaries, all clones share what was compiled.
TAGS := nolibopusfile$(shell command -v dpkg-query >/dev/null || pkg-config --exists webrtc-audio-processing 2>/dev/null || echo ,noapm)
export GOFLAGS := $(strip $(GOFLAGS) -tags=$(TAGS) -trimpath $(if $(AGENTVOICE_FRESH),-count=1))

MODULE  := github.com/agentvoice/agentvoice-daemon
# Evaluated in each recipe that needs it, because deps may have just installed the models.
MODELS   = $(shell pkg-config --variable=modeldir pocketsphinx 2>/dev/null)
LDFLAGS  = -X $(MODULE)/internal/assets.buildSphinx=$(MODELS)

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL: # deps comes before everything that needs it
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps deps-test
deps: ## install the libraries, models and speech that are missing
	@scripts/setup.sh
deps-test:
	@scripts/setup.sh --tests

.PHONY: build
build: deps ## build bin/agentvoice-daemon
	@echo "building $(BIN)"
	@go build -ldflags "$(LDFLAGS)" -o $(BIN) ./cmd/agentvoice-daemon
	@$(BIN) models measure || true

# ---- the conversation

# A make that another one started finds the tools up to date, and beside a third one must not
# write them.
$(TOOL)/%: $(if $(filter 0,$(MAKELEVEL)),FORCE)
	@go build -o $@ ./$(if $(filter %bench,$*),bench,internal/tools)/$*
FORCE:

.PHONY: run
run: build $(TOOL)/recording $(TOOL)/verdict ## hold a conversation from recorded speech, replay it, and draw it
	@$(TOOL)/recording -demo -o $(OUT)/recording.wav -ref $(OUT)/recording.txt -labels $(OUT)/recording.json
	@rm -rf $(OUT)/fields && cp -r testdata/demo $(OUT)/fields && cd $(OUT)/fields && git init -q -b main && git add README.md go.mod fields.go && \
		git -c user.name=Ada -c user.email=ada@example.org commit -q -m 'count empty fields'
	@cd $(OUT)/fields && $(abspath $(BIN)) talk --audio-in wav:../recording.wav --audio-out wav:../assistant.wav --record ../conversation.wav \
		--journal ../journal.jsonl --journal-content full --reference ../recording.txt
	@$(BIN) replay $(OUT)/journal.jsonl
	@$(BIN) timeline $(OUT)/journal.jsonl -o $(OUT)/timeline.html
	@$(TOOL)/verdict -journal $(OUT)/journal.jsonl -reference $(OUT)/recording.txt $$(case "$$($(BIN) models list)" in \
		*'In use: PocketSphinx'*) echo -turns 4 -interrupted 1 -tools 0 -wer 60 ;; *) echo -turns 6 -most 6 -interrupted 2 -tools 1 -wer 5 ;; esac)
	@printf '%-26s %s\n' $(OUT)/conversation.wav 'both voices: user left, assistant right' \
		$(OUT)/journal.jsonl 'the record' $(OUT)/timeline.html 'the picture: open it in a browser'

TONES := $(OUT)/tones
WIRES ?=

.PHONY: wires
wires: build $(TOOL)/recording $(TOOL)/wires ## hold the conversation of make run over each wire, and compare; WIRES='-wire live' for one, WIRES=-update for the golden files
	@$(TOOL)/recording -o $(OUT)/recording.wav -ref $(OUT)/recording.txt -labels $(OUT)/recording.json >/dev/null
	@$(TOOL)/wires -daemon $(BIN) -recording $(OUT)/recording.wav -reference $(OUT)/recording.txt -out $(OUT)/wires $(WIRES)

.PHONY: run-tones
run-tones: deps-test build $(TOOL)/tones $(TOOL)/verdict ## hold a conversation in the tone language, with sherpa-onnx in two passes
	@$(TOOL)/tones -o $(TONES)/recording.wav -ref $(TONES)/recording.txt -models $(TONES)/models
	@AGENTVOICE_MODELS=$(abspath $(TONES)/models) $(BIN) talk --audio-in wav:$(TONES)/recording.wav --audio-out wav:$(TONES)/assistant.wav \
		--journal $(TONES)/journal.jsonl --journal-content full --reference $(TONES)/recording.txt
	@$(BIN) replay $(TONES)/journal.jsonl
	@$(TOOL)/verdict -journal $(TONES)/journal.jsonl -reference $(TONES)/recording.txt -turns 3 -interrupted 0 -wer 20

# ---- the tests

COUNTS := $(OUT)/tests
SUM     = $(TOOL)/testsum -counts $(COUNTS)/$(subst test-,,$@).count
TOTAL   = awk '{ p += $$1; f += $$2; s += $$3 } END { printf "make $@: %d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'

# A comment in the line before a test assigns it to another target than test:
#   //test:long       whole conversations, and the same with more data
#   //test:realtime   what measures real time: devices, sound servers, network outages, latency
#   //test:documents  what reads README.md, docs and the like
# $(call marked,long|realtime) is a regular expression of their names, $(call packages,long) the
# packages that have them.
GO_DIRS  := audio bench cmd copilot csm internal protocol session
MARKS     = grep -rlE --include='*_test.go' '^//test:($(1))$$' $(GO_DIRS)
marked    = ^($(shell $(MARKS) | xargs -r awk -F '[^A-Za-z0-9_]+' '/^\/\/test:($(1))$$/ { getline; print $$2 }' | paste -sd '|'))$$
packages  = $(addprefix ./,$(shell $(MARKS) | xargs -r -n 1 dirname | sort -u))
ELSEWHERE = long|realtime|documents

# The daemon of the extension's tests, from the packages that test-race compiles.
RACE_BIN := $(OUT)/race/agentvoice-daemon

# $(call beside,A,B,C,N) makes the targets A, of which many tests speak and listen in real time and
# wait, beside the targets B, which compute, and then C. B gives way by N: 0 makes all end
# sooner on a busy machine, and conversations in real time need 5.
beside = $(MAKE) $(1) & waits=$$! ok=0; nice -n $(4) $(MAKE) --keep-going $(2) || ok=$$?; \
	$(if $(3),$(MAKE) $(3) || ok=$$?;) wait $$waits || ok=$$?; exit $$ok

.PHONY: test
test: deps-test $(TOOL)/testsum $(TOOL)/crosscheck ## run the tests of every change, Go and TypeScript, in some five minutes
	@rm -rf $(COUNTS)
	@$(call beside,test-race,test-pure test-cross test-format test-documents,test-extension,0)
	@cat $(COUNTS)/{race,pure,documents,extension}.count | $(TOTAL)

.PHONY: test-long
test-long: deps-test build $(TOOL)/testsum ## run the tests that take longer: whole conversations, minutes of audio, benches and proofs, the core without cgo
	@$(call beside,test-long-race,test-tooling test-slow test-core,,5)
	@cat $(COUNTS)/{long-race,tooling,slow,core}.count | $(TOTAL)

.PHONY: test-realtime
test-realtime: deps-test $(TOOL)/testsum ## run the tests that measure real time, one package at a time; they need a machine that is not busy
	@go test -vet=off -p 1 -timeout 10m -run '$(call marked,realtime)' -json $(call packages,realtime) 2>&1 | $(SUM) -name "tests in real time"

.PHONY: test-race test-pure test-long-race test-tooling test-slow test-core test-cross test-documents test-format test-extension
# Everything except what the other targets run. Packages whose tests mostly wait come first, and
# a third runs beside two others. The race detector makes each test binary sleep for a second at its
# end; a tenth is enough for late races. The first race ends its process, because the daemon of a test
# ends without telling the race detector. lint has all of vet.
test-race test-long-race test-tooling test-documents test-extension: export GORACE := atexit_sleep_ms=100 halt_on_error=1
test-race: $(TOOL)/testsum
	@go test -race -vet=off -p 3 -timeout 15m -skip '$(call marked,$(ELSEWHERE))' -json ./internal/daemon/live ./audio/realtime ./audio/localrealtime ./cmd/agentvoice-daemon \
		$$(go list ./... | grep -v -e '^$(MODULE)/bench' -e '^$(MODULE)/internal/prove' | grep -vxF "$$(printf '$(MODULE)/%s\n' $(PURE))") 2>&1 | $(SUM) -name "go test -race"

test-pure: $(TOOL)/testsum
	@CGO_ENABLED=0 go test -vet=off -timeout 15m -json $(addprefix ./,$(PURE)) 2>&1 | $(SUM) -name "pure packages, without cgo"

test-long-race: $(TOOL)/testsum
	@go test -race -vet=off -p 3 -timeout 15m -run '$(call marked,long)' -json $(call packages,long) 2>&1 | $(SUM) -name "long tests"

test-tooling: $(TOOL)/testsum
	@go test -race -vet=off -p 3 -timeout 15m -skip '$(call marked,$(ELSEWHERE))' -json ./csm/csmtest ./bench/... \
		$$(go list ./internal/prove/... | grep -vxF "$$(printf '$(MODULE)/%s\n' $(PURE))") 2>&1 | $(SUM) -name "csmtest, benches and proofs"

# Single-goroutine tests that the race detector slows down about ten times, such as minutes
# of audio: those in files with the build constraint cgo && !race. Files with only !race are
# in packages of CORE.
SLOW = $(shell grep -rl --include='*_test.go' '^//go:build cgo && !race' $(GO_DIRS) | xargs grep -l '^func Test')
test-slow: $(TOOL)/testsum
	@go test -vet=off -timeout 15m -skip '$(call marked,realtime)' -run "^($$(sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/\1/p' $(SLOW) | paste -sd '|'))$$" -json \
		$(sort $(addprefix ./,$(dir $(SLOW)))) 2>&1 | $(SUM) -name "slow tests"

# The packages of CORE that test-pure does not run.
test-core: $(TOOL)/testsum
	@CGO_ENABLED=0 go test -vet=off -timeout 15m -skip '$(call marked,realtime|documents)' -json \
		$$(go list $(CORE) | grep -vxF "$$(printf '$(MODULE)/%s\n' $(PURE))") 2>&1 | $(SUM) -name "core without cgo"

# Types only: compiling the dependencies for two more systems takes minutes. cross does that.
test-cross: $(TOOL)/crosscheck
	@$(TOOL)/crosscheck windows darwin linux

test-documents: $(TOOL)/testsum
	@go test -race -vet=off -timeout 15m -run '$(call marked,documents)' -json $(call packages,documents) 2>&1 | $(SUM) -name "documents"
	@go list -deps -f '{{with .Module}}{{if not .Main}}| `{{.Path}}` | {{.Version}} |{{end}}{{end}}' ./cmd/... | sort -u | \
	while read -r module; do grep -qF "$$module" THIRD_PARTY.md || { echo "THIRD_PARTY.md has no row: $$module"; exit 1; }; done

test-format:
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path '*/node_modules/*' -not -path './$(OUT)/*')); \
	[[ -z $$unformatted ]] || { echo "not formatted, run gofmt -w on:" $$unformatted; exit 1; }; echo "Go files are formatted"

%/node_modules/.package-lock.json: %/package-lock.json
	@echo "installing the npm packages of $*"
	@cd $* && npm ci --silent --no-audit --no-fund
	@touch $@

$(RACE_BIN): FORCE
	@go build -race -ldflags "$(LDFLAGS)" -o $@ ./cmd/agentvoice-daemon

# Node's test runner. AGENTVOICE_DAEMON is the binary under test.
test-extension: extension/node_modules/.package-lock.json $(TOOL)/testsum $(RACE_BIN)
	@cd extension && AGENTVOICE_DAEMON=$(CURDIR)/$(RACE_BIN) timeout 900 npm test --silent 2>&1 | (cd .. && $(SUM) -node -name "npm test")

# What packages hold: without symbols, with the version of the package.
PACKED := $(OUT)/packed/agentvoice-daemon$(shell go env GOEXE)
$(PACKED): FORCE
	@scripts/setup.sh --vsix --engine
	@go build -trimpath -ldflags "-s -w -X main.release=$$(scripts/version.sh) $(LDFLAGS)" -o $@ ./cmd/agentvoice-daemon

.PHONY: vsix
vsix: deps extension/node_modules/.package-lock.json $(PACKED) ## package the extension with the daemon for this platform, in out/vsix, and test the package
	@scripts/vsix.sh $(PACKED)

.PHONY: packages
packages: deps $(PACKED) ## build what people install for this platform, in out/packages: archive, Debian package, npm, installer, SBOM, checksums
	@scripts/packages.sh $(PACKED)

FAKE_COPILOT := $(OUT)/vsix/fake-copilot.vsix
.PHONY: e2e
e2e: build vsix $(TOOL)/modelmirror extension/e2e/node_modules/.package-lock.json ## talk with the packaged extension in a real VS Code; pictures and times in out/e2e
	@scripts/setup.sh --e2e
	@scripts/e2e.sh
	@extension/node_modules/.bin/tsc -p extension/e2e
	@cd extension/e2e/fake-copilot && ../../node_modules/.bin/vsce package --out $(abspath $(FAKE_COPILOT)) >/dev/null
	@AGENTVOICE_E2E_VSCODE=$$(scripts/e2e.sh --where) AGENTVOICE_E2E_COPILOT_VSIX=$(FAKE_COPILOT) \
		AGENTVOICE_E2E_ASSETS=$$(scripts/setup.sh --where) \
		AGENTVOICE_E2E_VSIX=$$(ls -t $(OUT)/vsix/agent-voice-*.vsix | head -n 1) \
		$$(scripts/e2e.sh --where)/node/bin/node extension/e2e/suite.ts

.PHONY: agents
agents: deps-test ## drive a real coding agent by recorded speech and by text, against a scripted model; installs the agent from npm
	@scripts/agents.sh
	@AGENTVOICE_AGENTS=$$(scripts/agents.sh --where) go test -tags $(TAGS),agents -count 1 -timeout 10m -run 'TestCodex' ./cmd/agentvoice-daemon

.PHONY: stock-clients
stock-clients: deps-test build internal/stockclients/node_modules/.package-lock.json ## talk with realtime-server through OpenAI's and LiveKit's own clients, from npm and unmodified, and print the transcripts
	@scripts/setup.sh --e2e
	@node internal/stockclients/run.mjs $(BIN)

.PHONY: official
official: ## check events, requests, and when models end against OpenAI's own library, the newest one, as of today; PINNED=1: the library of go.mod
	@scripts/official.sh $(if $(PINNED),--pinned)

.PHONY: cross
cross: ## compile and vet for Windows and macOS
	@printf '%s\n' windows darwin | xargs -P 2 -I {} sh -c 'CGO_ENABLED=0 GOOS={} go vet ./... && echo "compiles for {}"'

# ---- proof of the core

# Files that the tools below write to $(OUT) must not become packages of this module.
$(OUT)/go.mod:
	@mkdir -p $(@D) && echo 'module out' >$@

.PHONY: requirements
requirements: deps ## print the requirements and whether they are proved, owed or superseded; LIST=-q prints only the counts
	@go run ./internal/prove requirements list $(LIST)

.PHONY: conformance
conformance: deps-test build $(OUT)/go.mod ## prove the core: scenarios, exploration, a second model, coverage, requirements, mutants
	@go run ./internal/prove conformance -daemon $(BIN) -out $(OUT)/conformance

.PHONY: debug
debug: deps $(OUT)/go.mod ## build bin/agentvoice-daemon-debug, with every seeded fault behind a switch
	@go run ./internal/prove mutants generate -out $(OUT)/mutants
	@go build -tags $(TAGS),mutants -overlay $(OUT)/mutants/overlay.json -ldflags "$(LDFLAGS)" -o $(BIN)-debug ./cmd/agentvoice-daemon
	@echo "built $(BIN)-debug; explore --mutant NAME shows what a fault does"

# ---- the rest

# Each clone has its own cache: a shared one also reports findings in clones that no longer
# exist. For the same reason there is no -trimpath, with which clones share the output of cgo,
# where the paths of the clone are that made it.
.PHONY: lint
lint: deps $(LINT) ## run the linters
	@GOFLAGS='$(filter-out -trimpath,$(GOFLAGS))' GOLANGCI_LINT_CACHE=$(abspath $(OUT))/lint $(LINT) run ./... && echo "golangci-lint: no finding"

$(LINT):
	@echo "building golangci-lint $(GOLANGCI_LINT_VERSION)"
	@mkdir -p $(CACHE)
	@GOFLAGS= GOBIN=$@.new go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	@mv $@.new/golangci-lint $@ && rmdir $@.new

.PHONY: bench
bench: deps-test build $(TOOL)/recording $(TOOL)/tones $(TOOL)/loopbench $(TOOL)/commandbench bench/xstate/node_modules/.package-lock.json ## measure functions, the core against comparable libraries, a two-minute conversation, each engine's response time, and a server with several clients
	@mkdir -p $(OUT)/bench
	@go test -run '^$$' -bench . -skip '$(CHOICES)' -benchmem -benchtime $(BENCHTIME) \
		$$(grep -rl --include='*_test.go' --exclude-dir=$(OUT) --exclude-dir=node_modules '^func Benchmark' . | xargs -n 1 dirname | sort -u) | tee $(OUT)/bench/functions.txt | scripts/bench-table.sh
	@scripts/bench-core.sh $(OUT)/bench
	@$(TOOL)/commandbench | tee $(OUT)/bench/commands.txt
	@$(TOOL)/recording -o $(OUT)/bench/recording.wav -ref $(OUT)/bench/recording.txt -minutes $(BENCH_MINUTES)
	@$(TOOL)/recording -questions 8 -short 5s -o $(OUT)/bench/questions.wav -ref $(OUT)/bench/questions.txt
	@$(TOOL)/tones -pause 4 -o $(OUT)/bench/tones.wav -ref $(OUT)/bench/tones.txt -models $(OUT)/bench/models \
		$(foreach i,1 2 3 4,"so what day" "so what time")
	@$(TOOL)/loopbench -daemon $(BIN) -recording $(OUT)/bench/recording.wav -out $(OUT)/bench \
		-questions $(OUT)/bench/questions.wav -tones $(OUT)/bench/tones.wav -models $(OUT)/bench/models

# Benchmarks that chose the parameters of microphone processing, the voice detector and the
# wake phrase, on recorded speech: minutes each.
CHOICES := ^Benchmark(Trigger|Uplink|Onset|Rates|Confirmed|Human|RoundTrip|Confusions|Trees)$$

.PHONY: bench-choices
bench-choices: deps-test ## repeat the measurements behind the parameters of detector, processing and wake phrase
	@scripts/speech.sh
	@go test -run '^$$' -bench '$(CHOICES)' -benchtime 1x -timeout 2h ./audio/dsp ./audio/vad ./audio/wake ./audio/portaudio ./internal/vocab

# A folder of WAV files with one sentence each, and its words in a text file of the same name.
RECORDINGS ?=

.PHONY: bench-pauses
bench-pauses: build $(TOOL)/loopbench ## measure how many sentences with a pause inside reach the agent as one request; RECORDINGS=folder names the sentences, PAUSES='-only "no pause"' some rows
	@test -n "$(RECORDINGS)" || { echo 'bench-pauses: no sentences; add RECORDINGS=folder, with *.wav files and a *.txt of the same name for each'; exit 2; }
	@$(TOOL)/loopbench -daemon $(BIN) -recordings "$(RECORDINGS)" -out $(OUT)/bench $(PAUSES)

.PHONY: renewals
renewals: deps-test ## talk for ten minutes over sessions of one minute; prints gaps and lost turns
	@go test -count 1 -timeout 20m -v -run TestRenewalCrossesThreeLimitsInOneConversation ./internal/daemon/live -args -session-limit 60s -renew-for 10m

.PHONY: faults
faults: deps-test ## inject each network fault into a conversation, for up to five minutes; prints a table
	@go test -count 1 -timeout 20m -v -run TestNetworkFaults ./internal/daemon/live -args -long-faults | grep -o '|.*|$$\|^ok.*\|^FAIL.*\|^ *--- FAIL.*'

.PHONY: bench-room
bench-room: deps-test $(TOOL)/roombench ## measure interruptions in simulated rooms and on a private sound server; ROOM=-quick for minutes
	@scripts/speech.sh
	@$(TOOL)/roombench -out $(OUT) $(ROOM)

.PHONY: talk-room
talk-room: deps-test build ## hold a conversation over open speakers in real time, including an unplugged microphone and a dead sound server; needs an idle machine
	@scripts/speech.sh
	@go test -tags $(TAGS),room -count=1 -timeout 5m -run TestTalkOnVirtualDevices ./cmd/agentvoice-daemon -v

.PHONY: figures-room
figures-room: deps-test ## compare the latencies of interruptions with recordings of microphone and speaker; LOAD=30 keeps the machine busy
	@go test -tags $(TAGS),room -count=1 -timeout 15m -run TestFiguresOnVirtualDevices ./internal/daemon/live -v \
		-args -load $(or $(LOAD),0) -interruptions $(or $(N),10) | grep -o '|.*|$$\|^ok.*\|^FAIL.*\|^ *--- FAIL.*\|not comparable.*'

.PHONY: generate
generate: ## write the generated files: TypeScript, JSON Schema, settings, diagrams
	@go run ./internal/gen
	@cd extension && node manifest.mjs

.PHONY: fuzz
fuzz: deps-test $(TOOL)/peak ## fuzz two parsers of outside input for a minute each, which ones depends on the commit; COUNT=100 FUZZTIME=1m for all
	@scripts/fuzz.sh

.PHONY: full
full: deps-test build $(TOOL)/peak $(OUT)/go.mod ## long property tests, fuzzing, deep exploration, three more coding agents, ten minutes of dictation, all mutants, bench; resumes an interrupted run
	@scripts/full.sh $(OUT)/full $(BIN)

.PHONY: clean
clean: ## remove build output and recordings, but not what deps installed
	@rm -rf bin $(OUT) extension/dist extension/node_modules bench/xstate/node_modules internal/stockclients/node_modules
