.PHONY: build test lint race proof bench clients interop update site picture release

build: ## the binary, without cgo
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/assay ./cmd/assay

test: ## what CI runs
	./scripts/test

lint: ## staticcheck, of tests too
	CGO_ENABLED=0 go tool staticcheck ./...

race: ## tests under the race detector, also of packages that need a database
	CGO_ENABLED=1 go test -race -count=1 -timeout 2h ./internal/study/prompt ./internal/study/inputs ./internal/study/plan ./internal/send/provider ./internal/send/dispatch/... ./internal/send/script ./internal/send/planner ./internal/show/web ./internal/send/engine/... ./internal/simulator

bench: ## speed and memory as ratios against floors measured in the same run
	go test -run '^$$' -bench . ./internal/...
	go run ./test/bench

proof: ## what takes longer than a test may: a kill at every moment of a run, intervals over 2,000 studies, long fuzzing
	./scripts/proof

clients: ## official Go clients against the simulator and the gateway
	cd test/interop && go vet ./... && go test -count=1 ./...

interop: clients ## those of other languages, too; Inspect and data frames on what export writes; the R package
	./test/interop/js/run
	./test/interop/python/run
	./test/interop/logs/run
	./test/interop/gateway/run
	./test/interop/r/run

update: ## golden files and generated documents
	go test ./internal/show/cli ./internal/send/dialect ./internal/show/export/formats ./internal/study -update

site: ## the site of docs/, as static files in bin/site
	./scripts/site

picture: ## the picture of a report in README, the report itself, and the cast of a terminal
	./scripts/picture
	./scripts/cast

release: ## binaries, archives, packages and checksums in bin/release, and a try of what this machine can run
	./scripts/release
