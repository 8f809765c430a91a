.PHONY: build test proof bench interop update

build: ## the binary, without cgo
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/assay ./cmd/assay

test: ## what CI runs
	./scripts/test

bench: ## speed and memory as ratios against floors measured in the same run
	go run ./bench

proof: ## what takes longer than a test may: a kill at every moment of a run, intervals over 2,000 studies, long fuzzing
	./scripts/proof

interop: ## the official JavaScript clients against the simulator
	./interop/js/run

update: ## golden files and generated documents
	go test ./cli ./dialect ./export ./study -update
