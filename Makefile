# Every target makes what it needs on a fresh machine: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
BIN := .venv/bin
ONCE ?=
FUZZ ?=

.PHONY: demo test test-all fuzz check bench docs pictures exam-report parsers-report clean
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing goodbot into .venv (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/developer: .venv/installed
	@echo "Installing the developers' tools into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: .venv/installed  ## three sample sites, one crawl, a search page
	@$(BIN)/goodbot demo $(if $(ONCE),--once)

# The tests start many processes, so that what is compiled is kept, also where the environment says otherwise.
test test-all fuzz: export PYTHONDONTWRITEBYTECODE =

# Twice as many workers as CI has cores: for half of the time, a test waits for a server, a browser or a crawl.
test: .venv/developer  ## everything but the long tests, under 10 minutes
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not long" --hypothesis-profile quarter

# The property tests, too: `make test` draws a quarter of their examples.
test-all: .venv/developer .peers/replay/installed  ## the long tests, and property tests with all examples, under 30 minutes
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "long or hypothesis"

fuzz: .venv/developer  ## property tests with new and many examples; minutes, or `make fuzz FUZZ=tests/page`
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "hypothesis and not long" --hypothesis-profile fuzz $(FUZZ)

check: .venv/developer  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/peers: .venv/developer
	@echo "Installing the programs we measure ourselves against into .venv"
	@# pip before 23.3 fails when two packages spell an extra of a third differently: lxml[html_clean], lxml[html-clean].
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=23.3'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

bench: .venv/peers .peers/node_modules  ## every benchmark; `make bench-NAME` runs one
	@status=0; for file in benchmarks/bench_*.py; do $(BIN)/python $$file || status=$$?; done; exit $$status

bench-crawl bench-tls: .peers/node_modules

bench-%: .venv/peers
	@$(BIN)/python benchmarks/bench_$(subst -,_,$*).py

docs: .venv/developer  ## writes the pages of docs that come from the code, then builds the site (build/site)
	$(BIN)/python docs/make_completions.py
	$(BIN)/python docs/make_man.py
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_http_reference.py
	$(BIN)/python docs/make_robots_directory.py
	$(BIN)/python docs/make_findings.py
	$(BIN)/python docs/make_dialects.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: .venv/developer  ## takes the two pictures of README.md (needs Chromium)
	$(BIN)/python docs/make_pictures.py

# The last version of spider-rs that npm has with a binary for Linux. It has none for other systems.
SPIDER := $(if $(filter Linux-x86_64,$(shell uname -sm | tr ' ' -)),@spider-rs/spider-rs@0.0.157 @spider-rs/spider-rs-linux-x64-gnu@0.0.157)

.peers/node_modules: Makefile
	@if command -v npm >/dev/null; then \
	  echo "Installing Crawlee, Supercrawler, simplecrawler$(if $(SPIDER), and spider-rs) into .peers" && \
	  npm install --prefix .peers --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
	    '@crawlee/cheerio@^3.18' 'supercrawler@^2' 'simplecrawler@^1.1.9' $(SPIDER); \
	else \
	  echo "npm is not installed: Crawlee, Supercrawler, simplecrawler and spider-rs are left out"; \
	fi
	@mkdir -p $@ && touch $@

# The crawlers of PyPI, apart from .venv because they bring a hundred packages (1 GB). Crawl4AI needs most of the space.
.peers/python/installed: Makefile
	@test -x .peers/python/bin/python || $(PYTHON) -m venv .peers/python
	@echo "Installing Crawlee for Python, Crawl4AI, LinkChecker and trafilatura into .peers/python"
	@for packages in 'crawlee[parsel,httpx]>=1.11' 'crawl4ai>=0.9' 'linkchecker>=10.6' 'trafilatura>=2.3 pycurl lxml_html_clean'; do \
	  .peers/python/bin/python -m pip install --quiet --disable-pip-version-check $$packages || \
	    echo "cannot be installed, and is left out: $$packages"; \
	done
	@touch $@

# The programs that replay and validate our WACZ files. pywb needs other versions of packages that we have, too.
.peers/replay/installed: Makefile
	@test -x .peers/replay/bin/python || $(PYTHON) -m venv .peers/replay
	@echo "Installing pywb and wacz into .peers/replay"
	@.peers/replay/bin/python -m pip install --quiet --disable-pip-version-check 'pywb>=2.10' 'wacz>=0.6' || \
	  echo "cannot be installed, so tests that need them are skipped: pywb wacz"
	@touch $@

# Of Debian's packages it drives those that are installed: curl httrack libwww-perl liblwp-protocol-https-perl wget wget2
exam-report: export NODE_PATH := $(CURDIR)/.peers/node_modules
exam-report: export PATH := $(CURDIR)/.peers/python/bin:$(PATH)
exam-report: .venv/peers .peers/node_modules .peers/python/installed  ## drives the crawlers of all recipes (3 hours at most), writes docs/exam.md
	$(BIN)/python docs/make_exam_report.py $(CRAWLERS)

parsers-report: .venv/developer  ## asks other parsers of robots.txt our test vectors (5 minutes), writes docs/parsers.md
	$(BIN)/python docs/make_parsers_report.py

clean:
	rm -rf .venv .peers .pytest_cache .mypy_cache .ruff_cache
