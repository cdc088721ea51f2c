# make demo           three experiments on a real guest under two kernels; FULL=1 the full design, LOOPBACK=1 without guests
# make test           everything that CI checks; QUICK=1 leaves the guests out
# make bench          what a sample costs its host, ktrial's ways and others side by side; some minutes, on a quiet machine
#
# They install what they need (Debian packages when root, else they say which).

export CARGO_TARGET_DIR ?= $(HOME)/.cache/ktrial/target
ktrial := $(CARGO_TARGET_DIR)/debug/ktrial
kernel := $(CARGO_TARGET_DIR)/debug/ktrial-kernel

# Package by package: together they would unite their features, and polars would be built once more.
each := set -e; for package in ktrial ktrial-agent ktrial-kernel; do

.PHONY: demo test bench loopback guests build setup lint unit docs deny notebooks

demo: build
	cargo build --locked --package ktrial-kernel
	testbed/demo $(ktrial) $(kernel)

test: setup lint unit docs deny notebooks loopback guests

bench: build
	cargo build --locked --release --package ktrial-agent
	benches/sampling.py --agent $(CARGO_TARGET_DIR)/release/ktrial-agent --ktrial $(ktrial)

# The demo without guests.
loopback: build
	LOOPBACK=1 testbed/demo $(ktrial) $(kernel)

# The demo with the fewest trials: that everything works on real kernels, not what the numbers say.
ifdef QUICK
guests:
	@echo "guests: left out, as QUICK is set"
else
guests: build notebooks
	TRIALS=1 testbed/demo $(ktrial) $(kernel)
	testbed/check $(ktrial)
	testbed/faults $(ktrial)
endif

setup:
	testbed/packages

build: setup
	cargo build --locked

lint: setup
	cargo fmt --all --check
	$(each) cargo clippy --locked --package $$package --all-targets -- -D warnings; done

unit: setup
	$(each) cargo test --locked --package $$package; done

docs: setup
	$(each) RUSTDOCFLAGS="-D warnings" cargo doc --locked --package $$package --no-deps; done

# The advisory database is a git repository; where it cannot be reached, this says so and checks the rest.
advisories := https://github.com/RustSec/advisory-db

deny: setup
	command -v cargo-deny >/dev/null || cargo install --locked --quiet --debug cargo-deny@0.20.2
	cargo deny --locked check licenses bans sources
	if timeout 30 git ls-remote -q $(advisories) HEAD >/dev/null 2>&1; then \
	    cargo deny --locked check advisories; \
	else \
	    echo "advisories: not checked, $(advisories) cannot be reached"; \
	fi

notebooks: setup
	cargo build --locked --package ktrial-kernel
	set -e; for notebook in notebooks/*.ipynb; do $(kernel) check $$notebook; done
