# SPDX-License-Identifier: Apache-2.0
"""llama.cpp on the simulated GPU, for tests: the fetched wheel, a driver program built against it, models made as asked for.

    class Decode(harness.Case):
        def test_one(self):
            model = harness.model("q4_K", layers=3)
            session = self.run_model(model, "--prompt", "301", "--generate", "1", device="t4")
            session.report, session.ledger("kernel"), session.driven, model.matrices ...

Another build of llama.cpp is taken from LLAMACPP_FOLDER, a folder with lib/ (or bin/) and include/, or `cuda13`: that of
build_cuda13.sh. Everything made lies in BUILD/tests/llamacpp. Where something can't be had, the program ends with 77 and says why."""
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import ledger  # noqa: E402
import recording  # noqa: E402

MADE = recording.BUILD / "tests" / "llamacpp"
TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_K", "q5_K", "q6_K")
# A device of each compute capability that llama.cpp chooses kernels by: 7.5, 8.6, 8.9, 9.0, 12.0. An own build is for 9.0 on.
DEVICES = ("t4", "rtx3090", "rtx4090", "h100-sxm", "rtx5090")
if os.environ.get("LLAMACPP_FOLDER") == "cuda13":
    DEVICES = DEVICES[3:]

# Structs that kernels of llama.cpp@0c1e57098 take by value (common.cuh, softmax.cu, rope.cu, topk-moe.cu): a build without
# device code has no cubin that would tell the simulator their sizes.
STRUCTS = ("ggml_cuda_mm_fusion_args_device:48:8,soft_max_params:128:8,rope_corr_dims:8:4,mrope_sections:16:4,"
           "topk_moe_config:4:1")


def skip(reason):
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(77)


def fetched():
    """The folder of fetch.sh."""
    done = subprocess.run([str(HERE / "fetch.sh"), "--offline"], capture_output=True, text=True)
    if done.returncode:
        skip(done.stderr.strip())
    return pathlib.Path(done.stdout.strip())


def engine():
    """The folder whose llama.cpp runs."""
    own = os.environ.get("LLAMACPP_FOLDER")
    if own == "cuda13":
        folder = pathlib.Path(os.environ.get("ROOFTAP_CACHE", HERE.parents[1] / ".deps")) / "llama-cuda13"
        return folder if (folder / "build.txt").exists() else skip(f"{folder} isn't built; {HERE}/build_cuda13.sh does it")
    return pathlib.Path(own).resolve() if own else fetched()


def libraries(folder):
    for name in ("lib", "bin"):
        if list((folder / name).glob("libllama*.so*")):
            return folder / name
    return skip(f"{folder} has no lib/libllama*.so")


@contextlib.contextmanager
def making(path):
    """Alone, as tests run beside each other; a place to make PATH in, moved there when done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scratch = path.with_name(path.name + ".part")
        yield None if path.exists() else scratch
        if scratch.exists():
            scratch.rename(path)


def sum_of(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]


def driver():
    """The program of driver.c, linked with the engine; built at first use."""
    folder = engine()
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler:
        skip("no C compiler")
    places = libraries(folder)
    # One file of each, however many links lead to it.
    named = [(re.match(r"lib(llama|ggml-base|ggml)(-[0-9a-f]{8})?\.so", path.name), path)
             for path in sorted(places.glob("lib*.so*"))]
    linked = {match[1]: str(path) for match, path in named if match}
    path = MADE / f"llamacpp_driver-{sum_of(folder, (HERE / 'driver.c').read_text())}"
    with making(path) as scratch:
        if scratch:
            subprocess.run([compiler, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-isystem", str(folder / "include"),
                            str(HERE / "driver.c"), "-o", str(scratch), *linked.values(),
                            f"-Wl,-rpath,{places}", "-Wl,--allow-shlib-undefined"], check=True)
    return [str(path), "--backends", str(places)]


class Model:
    """A GGUF at `path`; what is in it by make_model.py's arithmetic: `described`, and its `matrices`."""

    def __init__(self, path):
        self.path = path
        self.described = json.loads(path.with_suffix(".json").read_text())
        self.matrices = self.described["matrices"]

    @property
    def multiplied_bytes(self):
        """What one token reads of the GPU's matrices; of experts, all."""
        return sum(matrix["bytes"] * matrix["experts"] for matrix in self.matrices if matrix["multiplied"])


def model(kind="q4_K", **options):
    """A model of make_model.py: model("f16", layers=4, experts=8, tied=True, ...)."""
    words = [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in sorted(options.items())]
    name = "-".join([kind, *(f"{key}{'' if value is True else value}" for key, value in sorted(options.items()))])
    path = MADE / "models" / f"{name}-{sum_of((HERE / 'make_model.py').read_text())}.gguf"
    with making(path) as scratch:
        if scratch:
            environment = {**os.environ, "PYTHONPATH": str(fetched() / "python")}
            made = subprocess.run([sys.executable, "-B", str(HERE / "make_model.py"), str(scratch), "--type", kind, *words],
                                  env=environment, stdout=subprocess.PIPE, text=True, check=True)
            path.with_suffix(".json").write_text(made.stdout)
    return Model(path)


class Case(recording.Case):
    def run_model(self, model, *options, device="h100-sxm", environment=None, **record):
        """A session of the driver on MODEL; `driven` is what it says it did."""
        environment = {"SIMGPU_STRUCT_SIZES": STRUCTS, **(environment or {})}
        session = self.recorded([*driver(), str(model.path), *options], device=device, environment=environment, **record)
        session.driven = json.loads(session.run.out)
        return session

    def assert_ledger_equal(self, session, **counts):
        """Report and ledger: calls, kernels, time, launches under their names. A quantised model has no library call."""
        self.assertEqual(ledger.differences(session), [])
        self.assertTrue(session.ledger("kernel"), "the ledger holds no kernel")
        coverage = session.report["coverage"]
        zero = ("records_dropped", "records_damaged", "blocks_damaged", "buffers_lost", "kernels_untimed")
        self.assertEqual({key: coverage[key] for key in zero}, dict.fromkeys(zero, 0))


def main():
    fetched()  # what is not there ends the program before unittest would count it a failure
    engine()
    recording.main()
