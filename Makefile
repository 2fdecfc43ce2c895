# SPDX-License-Identifier: BSD-3-Clause
# The targets of the original library (CRESTA D4.5.3, section 4.1) and some more, over a CMake
# build for each MPI found. `make help` explains them. The work is done by tools/setup.sh,
# tools/build.sh and CMakeLists.txt.

# Built-in choice of implementations, for example -D_NONBLOCK_ALLTOALL -D_ALL_NONBLOCK. Set here
# or on the command line; a make without it builds without it.
DFLAGS :=
DFLAGS_LIB = $(DFLAGS)

# Where `make install` puts one tree for each MPI.
PREFIX := /usr/local
DESTDIR ?=

# Only this MPI (openmpi or mpich); empty means all that are found.
MPI :=

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
export DFLAGS_LIB PREFIX DESTDIR MPI

.PHONY: all static shared test quick format table mutants golden messages ovl check nightly demo
.PHONY: release-check sanitize
.PHONY: peers scale install clean help reference setup dist deb wheel check-wheel
.NOTPARALLEL:

all: static

static shared:
	@tools/setup.sh build
	@tools/build.sh $@
	@tools/result.sh $@

setup:
	@tools/setup.sh all

test: setup
	@tools/build.sh static
	@bin/crestacoll check --all $${MPI:+--mpi "$$MPI"}

table: setup
	@tools/build.sh static
	@bin/crestacoll info --table docs/implementations.md

check:
	@tools/setup.sh check
	@tools/check.py

quick:
	@tools/setup.sh check
	@tools/check.py --quick

sanitize: setup
	@tools/sanitize.sh

release-check: setup
	@tools/build.sh all
	@.venv/bin/python -m pytest -q -m release tests

format:
	@tools/setup.sh check
	@.venv/bin/python tools/check_format.py --write

# SECONDS_EACH: of each test (60); SEED: instead of the day's.
SECONDS_EACH :=
SEED :=
nightly: export SECONDS_EACH := $(SECONDS_EACH)
nightly: export SEED := $(SEED)
nightly:
	@tools/setup.sh check
	@tools/build.sh all
	@tools/nightly.py

demo: setup
	@tools/build.sh demo
	@bin/crestacoll demo

peers: setup
	@bench/peers

scale: setup
	@tools/build.sh all
	@.venv/bin/python tools/scale.py

# ALGO: only these, as collective/name.
ALGO :=
mutants:
	@tools/setup.sh build
	@python3 tools/mutants.py $(ALGO)

reference:
	@.venv/bin/python tools/reference.py

golden:
	@tools/setup.sh build
	@tools/build.sh conformance-sim
	@python3 tools/golden.py --renew

messages:
	@.venv/bin/python tools/messages.py --renew

ovl: setup
	@tools/build.sh static
	@bin/crestacoll overlap alltoall --sizes 64K:4M:x4 --mpi all --plot build/overlap.svg
	@echo "the plot: build/overlap.svg; between hosts: crestacoll overlap --help (--hosts)"

install:
	@tools/setup.sh build
	@CRESTA_AS_BUILT=1 tools/build.sh static shared
	@tools/install.sh

dist:
	@tools/dist.py build

deb:
	@tools/deb.sh

wheel:
	@tools/setup.sh build
	@tools/wheel.sh

# NAME: only these MPIs.
NAME :=
check-wheel:
	@tools/setup.sh build
	@ls build/dist/crestacoll-*.whl >/dev/null 2>&1 || tools/wheel.sh
	@failed=0; tools/check_wheel.py $(NAME) || failed=1; \
	    [ -n "$(NAME)" ] || tools/check_wheel_chroot.py || failed=1; exit $$failed

clean:
	@rm -rf build demo libcrestacoll.a libcrestacoll.so
	@echo "removed build/ and demo/ (kept: .venv)"

help:
	@cat tools/help.txt
