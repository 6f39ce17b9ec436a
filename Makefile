# A thin front for Meson: the targets people type.
#
#   make            build (build/sonde, build/libsonde.so, build/libsonde-cuda.so)
#   make demo       record a small pipeline and say what is slow in it
#   make test       every test; the last line is "N passed, N failed, N skipped"
#   make test-index what the end-to-end tests show, written to docs/tests.md
#   make soak       the same with the long forms
#   make format     lay out the C sources as .clang-format says
#   make fuzz       fuzzing of the readers, FUZZ_SECONDS=60 each
#   make bench      measured limits
#   make dist       one folder that runs on a server with nothing installed
#   make install    PREFIX=/usr/local, DESTDIR honoured; with LINKS=1 also as nsys, nsys-ui, nvprof, ncu and ncu-ui
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Names of tests to run, as shell patterns; empty means all.
ONLY ?=
# 1: install and dist also make the links nsys, nsys-ui, nvprof, ncu, ncu-ui and nv-nsight-cu-cli.
LINKS ?=

export BUILD LINKS

# Meson uses all cores by itself; two targets at once would only race for the same folder.
.NOTPARALLEL:

.PHONY: all build demo test test-index format soak fuzz bench dist install clean deps test-deps bench-deps
all: build

build: deps
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD)
	ninja -C $(BUILD) -j $(JOBS)

deps:
	@tools/install_deps build
	@BUILD="$(abspath $(BUILD))" tools/offline/install

test-deps:
	@tools/install_deps build test

bench-deps:
	@tools/install_deps build bench

demo: build
	@demo/run

test: test-deps build
	@tools/run_tests $(ONLY)

test-index:
	@tools/run_tests --page >docs/tests.md

format:
	@tools/check_format --fix

soak: test-deps build
	@SOAK=1 tools/run_tests $(ONLY)

fuzz: test-deps
	@tools/fuzz $(or $(FUZZ_SECONDS),60)

bench: bench-deps build
	@tools/run_bench $(ONLY)

dist: build
	@tools/dist

install:
	@test -x $(BUILD)/sonde || $(MAKE) build
	@tools/install "$(PREFIX)"

clean:
	rm -rf $(BUILD) build-asan build-clang build-fuzz build-tsan dist
