# The workflow, in one place. PYTHON may name any interpreter whose environment has the extras test-all, lint and docs.
PYTHON ?= python3

.PHONY: install test test-long spark-test torch-test adapters-test coverage test-oldest oldest-check release-check wheels-check lint docs docs-check try bench against-r suites oracles fuzz sanitize mutants

install:            ## everything a developer needs, into the current environment
	$(PYTHON) -m pip install -e '.[test-all,lint,docs]'

test:               ## the suite, with doctests; what is skipped has a line that says how to have it
	$(PYTHON) -m pytest -n auto

test-long:          ## the suite with all random examples, and ranx as it is compiled; half an hour
	NUMBA_DISABLE_JIT=0 $(PYTHON) -m pytest -n auto --hypothesis-profile=long

coverage:           ## the suite with branch coverage, which must not fall; takes twice as long
	$(PYTHON) -m pytest -n auto --cov

spark-test:         ## Spark with executors in separate processes, and what can fail there; needs Java 17, and root for the full disk
	$(PYTHON) tests/spark_cluster.py

TORCH ?= torch==2.13.0
TORCH_ENVIRONMENT ?= build/torch

torch-test:         ## what needs PyTorch, on the CPU, in an environment of its own
	$(PYTHON) -m venv $(TORCH_ENVIRONMENT)
	$(TORCH_ENVIRONMENT)/bin/pip install -q '$(TORCH)'
	$(TORCH_ENVIRONMENT)/bin/pip install -q '.[torch,arrays,frames]' 'torchmetrics>=1.4' pytest hypothesis
	$(TORCH_ENVIRONMENT)/bin/pip install -q 'triton>=3.4; platform_system == "Linux"'  # its interpreter runs the kernels
	$(TORCH_ENVIRONMENT)/bin/python -m pytest tests/torch_*.py tests/test_examples.py -k 'torch'

adapters-test:      ## LensKit, PyTerrier, ASReview, sentence-transformers and Lightning: large packages, each in its own environment
	$(PYTHON) -m venv build/lenskit && build/lenskit/bin/pip install -q . 'lenskit>=2025.8' pytest hypothesis
	build/lenskit/bin/python -m pytest tests/test_adapter_lenskit.py tests/test_examples.py -k 'lenskit or recommender'
	$(PYTHON) -m venv build/pyterrier && build/pyterrier/bin/pip install -q . python-terrier pytest hypothesis
	build/pyterrier/bin/python -m pytest tests/test_adapter_pyterrier.py
	$(PYTHON) -m venv build/asreview && build/asreview/bin/pip install -q . asreview-insights pytest hypothesis
	build/asreview/bin/python -m pytest tests/test_reviews.py
	for version in 1.6 2 3; do \
	  $(PYTHON) -m venv build/asreview-$$version && \
	  build/asreview-$$version/bin/pip install -q . "asreview==$$version.*" pytest hypothesis && \
	  build/asreview-$$version/bin/python -m pytest tests/asreview_versions.py || exit 1; \
	done
	$(PYTHON) -m venv build/trainers && build/trainers/bin/pip install -q '$(TORCH)'
	build/trainers/bin/pip install -q '.[torch,arrays,frames]' torchmetrics lightning 'sentence-transformers[train]>=5' pytest hypothesis
	build/trainers/bin/python -m pytest tests/trainers.py tests/test_examples.py -k 'trainer or lightning'

test-oldest:        ## the suite with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/pip install -q '.[test-all]' -c tests/oldest.txt
	build/oldest/bin/python -m pytest

oldest-check:       ## every command and every verb with the lowest versions of what they need; two minutes
	$(PYTHON) -m venv build/oldest-check
	build/oldest-check/bin/pip install -q '.[frames,duckdb,plots]' pandas pytest hypothesis -c tests/oldest.txt
	build/oldest-check/bin/python ci/every_verb.py
	build/oldest-check/bin/python -m pytest tests/test_command_line.py tests/test_readme.py tests/test_starts.py \
		tests/test_doctests.py -k 'not adapters'

release-check:      ## all that is too heavy for .ci/run, and what came of it; hours. ONLY='oracles against-r' runs those
	$(PYTHON) -m venv build/release
	build/release/bin/pip install -q '.[test-all]'
	build/release/bin/python ci/release_check.py $(ONLY)

wheels-check:       ## the wheels and archives of a release, built, audited and tried on every Python that is there; Linux
	PYTHON=$(PYTHON) ci/wheels_check.sh build/wheels

node_modules/.package-lock.json: package-lock.json  # npm writes it last
	npm ci --no-audit --no-fund --loglevel=error

lint: node_modules/.package-lock.json  ## style, types, whether generated pages are current, and the page's JavaScript; needs Node 20
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) docs/generate.py --check
	$(PYTHON) docs/manual.py --check
	npx tsc
	npx eslint .
	node --test tests/js

docs:               ## the documentation, into site/; any warning is an error, a dead link too, and nothing is loaded from elsewhere
	$(PYTHON) docs/generate.py
	$(PYTHON) docs/manual.py
	rm -rf site
	$(PYTHON) -m sphinx --builder html --quiet --fail-on-warning --keep-going --jobs auto --doctree-dir build/doctrees docs site
	$(PYTHON) docs/versions.py site
	$(PYTHON) docs/check.py site

docs-check: node_modules/.package-lock.json  ## the site in a browser: on a phone, by axe, search; after `make docs`
	$(PYTHON) -m pytest tests/site_browser.py

try: node_modules/.package-lock.json  ## the page that runs in a browser, into site/try; PYODIDE=DIR takes a whole distribution
	$(PYTHON) tryit/assemble.py site/try $(if $(PYODIDE),--pyodide $(PYODIDE)) $(if $(WHEEL),--wheel $(WHEEL))

bench:              ## CPU time, wall time and memory on simulated collections, beside the peers; TREC_EVAL=DIR adds trec_eval
	$(PYTHON) benchmarks/run.py $(if $(TREC_EVAL),--trec-eval $(TREC_EVAL))

against-r:          ## every p and interval that R has too, on random data; needs Rscript
	$(PYTHON) benchmarks/against_r.py

suites:             ## the tests of another tool through ours: make suites PEER=ranx FOLDER=a/checkout/of/ranx
	$(PYTHON) tests/peer_suites.py $(PEER) $(FOLDER)

oracles:            ## every value that pytrec_eval, ir_measures or ranx have too, on random cases; in an environment of its own
	$(PYTHON) -m venv build/oracles
	build/oracles/bin/pip install -q . pytrec-eval-terrier 'ir-measures>=0.4' pyndeval ranx pandas
	build/oracles/bin/python tests/peer_oracles.py

SECONDS ?= 60
PYTHONIC = module given matrices statistics tables dicts judged_dicts plain units
READER = $(filter-out $(PYTHONIC:%=native/%.c),$(wildcard native/*.c))
SANITIZED = -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all

fuzz:               ## hostile input for the fast reader, for SECONDS: from clang's fuzzer, and from a comparison of both readers
	@mkdir -p build/fuzz/reader build/fuzz/number
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -x c - -fsanitize=fuzzer -o build/fuzz/probe 2> build/fuzz/probe.log; then \
		$(MAKE) --no-print-directory fuzz-reader fuzz-number; \
	else \
		echo 'clang with libFuzzer is not installed (on Debian: clang and libclang-rt-dev): running only the kept corpus'; \
		$(MAKE) --no-print-directory corpus-reader corpus-number; \
	fi
	$(PYTHON) fuzz/differential.py --seconds $$(($(SECONDS) / 3)) --seed $$(date +%s)

fuzz-reader: share = 2
fuzz-number: share = 6
fuzz-%: fuzz/fuzz_%.c
	clang $(SANITIZED) -fsanitize=fuzzer $< $(READER) -lm -o build/fuzz/fuzz_$*
	build/fuzz/fuzz_$* -max_total_time=$$(($(SECONDS) / $(share))) -max_len=4096 -dict=fuzz/reader.dict -verbosity=0 \
		-print_final_stats=1 -artifact_prefix=build/fuzz/failed- build/fuzz/$* fuzz/corpus/$*

corpus-%: fuzz/fuzz_%.c fuzz/standalone.c
	$(CC) $(SANITIZED) $^ $(READER) -lm -o build/fuzz/corpus_$*
	build/fuzz/corpus_$* fuzz/corpus/$*/*

SEED ?= 1
WORKERS ?= 1

mutants:            ## which of some 350 small faults in the code the tests notice; takes an hour on two cores, and continues where it stopped
	$(PYTHON) -m venv build/mutants/tools
	build/mutants/tools/bin/pip install -q 'cosmic-ray>=8.7,<9' 'universalmutator>=1.14,<2'
	build/mutants/tools/bin/python mutants/generate.py --seed $(SEED) build/mutants/mutants.jsonl $(FILES)
	$(PYTHON) mutants/run.py --workers $(WORKERS) build/mutants/mutants.jsonl

sanitize:           ## tests of reading, counting and adding, with the module built to detect memory errors; needs gcc
	rm -rf build/sanitize && mkdir -p build/sanitize && cp -r src/lexirecall build/sanitize
	rm -f build/sanitize/lexirecall/_native*
	gcc $(SANITIZED) -shared -fPIC -DPy_LIMITED_API=0x030B0000 \
		-I$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))') \
		native/*.c -o build/sanitize/lexirecall/_native.abi3.so
	PYTHONPATH=build/sanitize LEXIRECALL_READER=native LD_PRELOAD=$$(gcc -print-file-name=libasan.so) \
		ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
		$(PYTHON) -m pytest --no-cov -p no:cacheprovider tests/test_reading.py tests/test_two_readers.py \
		tests/test_descending.py tests/test_scores.py tests/test_arrow.py tests/test_sorted_rows.py \
		tests/test_two_readers_on_dicts.py tests/test_two_readers_on_units.py tests/test_rows_in_c.py
