# Every target installs the Debian packages it needs, if they are not there (.ci/packages).

JOBS ?= $(shell nproc)
MICRO = $(basename $(notdir $(wildcard bench/micro/*_bench.cc)))
FUZZ_SECONDS ?= 60
CXX_FILES = $(shell find proxy config filters tests bench -name '*.cc' -o -name '*.h')

.PHONY: help build demo storms run test bench check format-check lint tidy fuzz format clean
.DEFAULT_GOAL := help

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

build: .packages-build build/profile/trained  ## build/release/damper, and the demo services
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

# Once a tree: what has changed since is built without its counts, until `make clean`.
build/profile/trained:
	cmake --preset profile
	cmake --build --preset profile --parallel $(JOBS) --target damper damper-demo-app
	bench/train.py
	touch $@

demo: build  ## measure retry amplification and a flaky upstream with real processes (1 minute)
	bench/demo/experiments.py

storms: build  ## retry storms with real processes (40 minutes; QUICK=1: 5 minutes)
	bench/demo/storms.py $(if $(QUICK),--quick)

run: build  ## a live demo until Ctrl-C: two services, one of them flaky, behind one Damper
	bench/demo/live.py

test: .packages-build  ## every test, plain and under asan+ubsan and tsan
	tests/run.py dev asan tsan

bench: build  ## processor time per request of the proxy, beside a direct connection; micro benchmarks
	bench/cost.py
	cmake --build --preset release --parallel $(JOBS) --target $(MICRO)
	set -e; for name in $(MICRO); do build/release/$$name; done

check: format-check lint tidy  ## layout, lint scripts, clang-tidy (slow)

format-check: .packages-check
	clang-format --dry-run --Werror $(CXX_FILES)

lint:
	tests/run.py --scripts tests/lint

tidy: .packages-check
	cmake --preset fuzz
	run-clang-tidy -quiet -p build/fuzz -j $(JOBS) '/(proxy|config|filters|bench)/'

fuzz: .packages-check  ## every fuzz target for FUZZ_SECONDS (60) seconds each
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)
	tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS)

format: .packages-check  ## lay out all C++ files
	clang-format -i $(CXX_FILES)

clean:  ## remove everything that was built
	rm -rf build

.packages-%:
	@.ci/packages $*
