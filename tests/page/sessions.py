# SPDX-License-Identifier: Apache-2.0
"""Sessions of every kind that a page is made of, each made once for a build: `session(NAME)` is its folder,
`page(NAME)` the file of `rooftap report --html`, `report(NAME)` what `--json` says. Where something can't be had,
Unavailable says what."""
import fcntl
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path.insert(0, str(TESTS / "e2e"))
import recording  # noqa: E402

if not os.environ.get("E2E_BUILD"):
    sys.exit("E2E_BUILD has to name a build folder with rooftap and its simulated GPU")
BUILD = recording.BUILD
ROOFTAP = recording.ROOFTAP
MADE = BUILD / "tests" / "page"
MAKE_TRACE = BUILD / "tests" / "report" / "make_trace"
CASES = TESTS / "report" / "cases"
LARGE = int(os.environ.get("PAGE_LARGE", "200000"))  # operators of the session `large`
MOST_BYTES = 1_000_000
STATUSES = {"empty": 1, "damaged": 2}  # of `rooftap report`; 0 without a row here


class Unavailable(Exception):
    pass


def run(command, status=0, **options):
    options.setdefault("env", recording.clean_environment())
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=300, **options)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}, expected {status}\n"
                             f"{done.stderr.decode(errors='replace')[-2000:]}")
    return done


# ---- recordings ----

def record(folder, command, *options, device="rtx4090", environment=None):
    run([ROOFTAP, "record", "-q", "-o", folder, "--simulate", device, *options, "--", *command],
        env=recording.clean_environment(environment))


def decode_loop(*options, arguments=("--batch", "1", "--layers", "4", "--steps", "8"), **rest):
    return lambda folder: record(folder, [recording.DECODE_LOOP, *arguments], *options, **rest)


def pytorch(folder):
    """As tests/real/pytorch runs it, with two layers."""
    place = TESTS / "real" / "pytorch"
    venv = pathlib.Path(os.environ.get("ROOFTAP_CACHE", TESTS.parent / ".deps")) / "venv-torch"
    stamp = venv / "rooftap-requirements.txt"
    if not stamp.exists() or stamp.read_bytes() != (place / "requirements.txt").read_bytes():
        raise Unavailable(f"{venv} isn't made; tests/real/pytorch/setup.sh does it")
    record(folder, [venv / "bin" / "python", place / "model.py", "--layers", "2", "--steps", "4"], device="h100-sxm",
           environment={"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"})


def llama(folder):
    specification = importlib.util.spec_from_file_location("llamacpp_harness", TESTS / "llamacpp" / "harness.py")
    harness = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(harness)
    try:
        command = [*harness.driver(), harness.model("q4_K", layers=3).path, "--prompt", "512", "--generate", "16"]
    except SystemExit as reason:
        raise Unavailable("llama.cpp can't be had; tests/llamacpp/fetch.sh says why") from reason
    record(folder, command, environment={"SIMGPU_STRUCT_SIZES": harness.STRUCTS})


def devices(folder):
    record(folder, [recording.program("devices")], "--sim-option", "devices=2")


# ---- traces that are described ----

def described(path):
    def make(folder):
        folder.mkdir()
        run([MAKE_TRACE, path, folder])
    return make


def case(name):
    def make(folder):
        described(CASES / name / "trace.txt")(folder)
        if (CASES / name / "session.json").exists():
            shutil.copy(CASES / name / "session.json", folder)
    return make


def own(name):
    return described(HERE / "traces" / f"{name}.txt")


def large(folder):
    folder.mkdir()
    run([MADE / "make_large", "operators", folder, LARGE])


MAKERS = {
    "decode_loop": decode_loop(),
    "batched": decode_loop(arguments=("--batch", "256", "--layers", "2", "--steps", "4")),
    "untimed": decode_loop("--timing", "off"),
    "sums": decode_loop("--aggregate"),
    "graphs": decode_loop(arguments=("--batch", "4", "--layers", "4", "--graph", "--steps", "20")),
    "pytorch": pytorch,
    "llama": llama,
    "devices": case("two_devices"),
    "roofs": case("each_gpu_its_roof"),
    "empty": case("nothing"),
    "blank": case("blank_trace"),
    "poor": own("poor"),
    "unknown_gpu": case("unknown_gpu"),
    "hostile": own("hostile"),
    "families": case("families"),
    "skinny": case("skinny"),
    "attention": case("attention_of_a_cache"),
    "huge": own("huge"),
    "large": large,
}


# ---- made once ----

def key():
    """Of what sessions and pages are made by."""
    parts = [ROOFTAP, *sorted((BUILD / "lib" / "rooftap").glob("*.so*")), MAKE_TRACE, pathlib.Path(__file__),
             *sorted((HERE / "traces").glob("*.txt"))]
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in parts if path.is_file()]
    return hashlib.sha256(" ".join([*sums, str(LARGE)]).encode()).hexdigest()


_KEY = None


def made(name, make):
    """MADE/NAME, by MAKE(path) unless it is there already and of this build."""
    global _KEY
    _KEY = _KEY or key()
    path = MADE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp = path.with_name(path.name + ".key")
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == _KEY and path.exists():
            return path
        stamp.unlink(missing_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        make(path)
        stamp.write_text(_KEY)
    return path


def session(name):
    return made(f"sessions/{name}", MAKERS[name])


def report_bytes(name, *options):
    return run([ROOFTAP, "report", *options, session(name)], STATUSES.get(name, 0)).stdout


def page(name):
    folder = session(name)
    return made(f"pages/{name}.html",
                lambda path: run([ROOFTAP, "report", "--html", path, folder], STATUSES.get(name, 0)))


def report(name, *options):
    """`--json` read strictly: a bare NaN is no JSON."""
    return strict(report_bytes(name, "--json", *options))


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")
    return json.loads(text, parse_constant=refuse)
