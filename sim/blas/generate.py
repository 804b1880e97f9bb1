#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes sources and headers of the stand-in cuBLAS and cuBLASLt from the lists in this folder.

    generate.py headers FOLDER            cublas_api.h, cublas_v2.h, cublasXt.h, cublasLt.h: declarations only
    generate.py wrappers cublas|cublasLt [MAJOR]  one function an entry: notes all arguments, asks for faults, calls its model
    generate.py helpers cublas|cublasLt   declarations of the hand-written bodies of helpers
    generate.py stubs cublas|cublasLt [MAJOR]     NotSupported for every other exported name (cublas.names, cublaslt.names)
    generate.py check cublas|cublasLt|legacy   a C file for vendor headers: a wrong prototype or number does not compile
    generate.py nulls cublas|cublasLt     a table of all entries called with every pointer NULL, for the tests
    generate.py names cublas|cublasLt [MAJOR]     the public names, one a line
    generate.py exports cublas|cublasLt [MAJOR]   all names, one a line
    generate.py declarations              a header with everything, legacy names too, for the tests

MAJOR leaves out what that CUDA major's library lacks (majors.tsv); without it nothing is. Output goes to standard output
unless a folder is given."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Letter -> element type, real type, bytes, factor of flops, cudaDataType, name in kernel names.
LETTERS = {
    "S": ("float", "float", 4, 1, 0, "fp32"),
    "D": ("double", "double", 8, 1, 1, "fp64"),
    "C": ("cuComplex", "float", 8, 4, 4, "fp32"),
    "Z": ("cuDoubleComplex", "double", 16, 4, 5, "fp64"),
    "H": ("__half", "__half", 2, 1, 2, "fp16"),
    "B": ("__nv_bfloat16", "__nv_bfloat16", 2, 1, 14, "bf16"),
}
GEMM_KINDS = ("gemm", "gemm_batched", "gemm_strided", "gemm_grouped")
FORMULA_KINDS = ("gemv", "level1", "level2", "level3", "extension", "xt")
HANDLES = ("cublasHandle_t", "cublasXtHandle_t")
STATUS = "cublasStatus_t"
ENUMS = ("cublasOperation_t", "cublasSideMode_t", "cublasFillMode_t", "cublasDiagType_t", "cublasComputeType_t",
         "cublasGemmAlgo_t", "cudaDataType", "cudaDataType_t")
INTEGERS = ("int", "int64_t", "long long int", "size_t", "uint64_t", "unsigned")
COMPLEX = ("cuComplex", "cuDoubleComplex")


class Param:
    def __init__(self, text):
        text = text.strip()
        self.array = text.endswith("[]")
        found = re.match(r"(.*?)(\w+)(\[\])?$", text)
        self.type, self.name = found.group(1).strip(), found.group(2)

    @property
    def pointer(self):
        return self.array or self.type.endswith("*") or self.type in (
            "cublasHandle_t", "cublasXtHandle_t", "cudaStream_t", "cublasLtHandle_t") or (
            self.type.startswith("cublasLt") and self.type.endswith(("Desc_t", "Layout_t", "Preference_t"))) or (
            "allback" in self.type)

    def declare(self):
        space = "" if self.type.endswith("*") else " "
        return f"{self.type}{space}{self.name}{'[]' if self.array else ''}"


class Entry:
    def __init__(self, kind, returns, name, params, letter, flags, flops, bytes_):
        self.kind, self.returns, self.name, self.params = kind, returns, name, params
        self.letter, self.flags, self.flops, self.bytes = letter, flags, flops, bytes_
        self.legacy = not any(p.type in HANDLES for p in params)
        self.result = None  # legacy: the parameter of the v2 form that became the return value

    def parameters(self):
        return ", ".join(p.declare() for p in self.params) or "void"

    def declare(self):
        space = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{space}{self.name}({self.parameters()})"

    def has(self, name):
        return any(p.name == name for p in self.params)


def substitute(text, letter):
    if letter:
        kind, real = LETTERS[letter][0], LETTERS[letter][1]
        text = re.sub(r"\bT\b", kind, re.sub(r"\bR\b", real, text))
    return text


def legacy_form(entry):
    """The name of cublas.h: no handle, scalars by value, char for enums, a lone result returned."""
    params, result = [], None
    for p in entry.params[1:]:
        q = Param(p.declare())
        if q.type in ("cublasOperation_t", "cublasSideMode_t", "cublasFillMode_t", "cublasDiagType_t"):
            q.type = "char"
        elif q.name in ("alpha", "beta", "c", "s") and q.type.startswith("const "):
            q.type = re.sub(r"^const (.*?) ?\*$", r"\1", q.type)
        elif q.name == "result":
            result = re.sub(r" ?\*$", "", q.type)
            continue
        params.append(q)
    made = Entry(entry.kind, result or "void", entry.name.replace("_v2", ""), params, entry.letter,
                 entry.flags - {"64", "legacy"}, entry.flops, entry.bytes)
    made.result = result
    return made


def read_list(path):
    entries = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = [c.strip() for c in line.split(" | ")]
        found = re.match(r"(?:(.*?)\s+)?([\w\[\]:,]+)\((.*)\)\s*([\w ]*)$", columns[1]) if len(columns) > 1 else None
        if not found:
            sys.exit(f"{path.name}:{number}: expected `kind | return name(parameters) flags`, found: {line}")
        kind, (returns, pattern, params, flags) = columns[0], found.groups()
        flops, bytes_ = columns[2:4] if len(columns) == 4 else (None, None)
        if (kind in FORMULA_KINDS) != (flops is not None):
            sys.exit(f"{path.name}:{number}: kinds {', '.join(FORMULA_KINDS)}, and only they, need flops and bytes")
        variants = re.search(r"\[([\w,:]+)\]", pattern)
        choices = [(None, "")]
        if variants:
            texts = variants.group(1).split(",")
            if len(texts) == 1 and ":" not in texts[0]:
                texts = list(texts[0])
            choices = [(t.split(":")[-1], t.split(":")[0]) for t in texts]
        for letter, text in choices:
            name = re.sub(r"\[.*?\]", text, pattern)
            for index, suffix in (("int", ""), ("int64_t", "_64")) if "64" in flags.split() else (("int", ""),):
                spelled = re.sub(r"\bINT\b", index, substitute(params, letter))
                made = [] if spelled.strip() == "void" else [Param(p) for p in re.split(r",", spelled)]
                entry = Entry(kind, returns or STATUS, name + suffix, made, letter, set(flags.split()), flops, bytes_)
                entries.append(entry)
                if "legacy" in entry.flags and not suffix:
                    entries.append(legacy_form(entry))
    return entries


def entries_of(library):
    return read_list(HERE / ("cublas.list" if library == "cublas" else "cublaslt.list"))


def is_legacy(entry):
    """Declared by cublas.h and not by cublas_v2.h."""
    return (entry.kind in FORMULA_KINDS + GEMM_KINDS and entry.legacy) or entry.returns == "cublasStatus"


# ---- headers ----

def read_types():
    made, current = [], None
    for line in (HERE / "types.list").read_text().splitlines():
        words = line.split()
        if not words or words[0] == "#":
            current = None
        elif words[0] == "enum":
            current = ("enum", words[1], words[2], words[3], [])
            made.append(current)
        elif words[0] == "opaque":
            made.append(("opaque", words[1], words[2], int(words[3])))
        elif current:
            current[4].append((words[0], int(words[1])))
    return made


def type_text(header):
    text = ""
    for t in read_types():
        if t[2] != header:
            continue
        if t[0] == "enum":
            text += "typedef enum {\n" + "".join(f"    {t[3]}{n} = {v},\n" for n, v in t[4]) + f"}} {t[1]};\n\n"
        else:
            text += f"typedef struct {{\n    uint64_t data[{t[3]}];\n}} {t[1]}Opaque_t;\n"
            text += f"typedef {t[1]}Opaque_t *{t[1]}_t;\n\n"
    return text


def header_text(name, includes, body):
    guard = "SIM_" + name.upper().replace(".", "_")
    return (f"/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by sim/blas/generate.py: the public interface of the stand-in, declarations only. */\n"
            f"#ifndef {guard}\n#define {guard}\n\n" + "".join(f"#include <{i}>\n" for i in includes) +
            "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + body +
            "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n")


def headers(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    api = "typedef struct cublasContext *cublasHandle_t;\ntypedef cudaDataType cublasDataType_t;\n"
    api += "typedef void (*cublasLogCallback)(const char *msg);\n\n" + type_text("cublas_api")
    api += "#define CUBLAS_OP_HERMITAN CUBLAS_OP_C\n\n"
    renames = ""
    xt = "typedef struct cublasXtContext *cublasXtHandle_t;\n\n" + type_text("cublasXt")
    for e in entries_of("cublas"):
        if is_legacy(e) or "cpp" in e.flags:
            continue
        if e.name.startswith("cublasXt"):
            xt += e.declare() + ";\n"
            continue
        api += e.declare() + ";\n"
        if "_v2" in e.name:
            renames += f"#define {e.name.replace('_v2', '')} {e.name}\n"
    lt = "typedef struct cublasLtContext *cublasLtHandle_t;\n" + type_text("cublasLt")
    lt += ("typedef struct {\n    uint64_t data[8];\n} cublasLtMatmulAlgo_t;\n\n"
           "typedef struct {\n    cublasLtMatmulAlgo_t algo;\n    size_t workspaceSize;\n    cublasStatus_t state;\n"
           "    float wavesCount;\n    int reserved[4];\n} cublasLtMatmulHeuristicResult_t;\n\n"
           "typedef void (*cublasLtLoggerCallback_t)(int logLevel, const char *functionName, const char *message);\n\n")
    lt += "".join(e.declare() + ";\n" for e in entries_of("cublasLt"))
    for e in entries_of("cublasLt"):
        if e.name.endswith("Init_internal"):
            public = [p for p in e.params if p.name != "size"]
            lt += (f"\nstatic inline cublasStatus_t {e.name.replace('_internal', '')}"
                   f"({', '.join(p.declare() for p in public)})\n{{\n    return {e.name}("
                   + ", ".join(f"sizeof *{e.params[0].name}" if p.name == "size" else p.name for p in e.params)
                   + ");\n}\n")
    (folder / "cublas_api.h").write_text(header_text(
        "cublas_api.h", ["stddef.h", "stdint.h", "library_types.h", "driver_types.h", "cuComplex.h"], api))
    (folder / "cublas_v2.h").write_text(header_text("cublas_v2.h", ["cublas_api.h"], renames))
    (folder / "cublasXt.h").write_text(header_text("cublasXt.h", ["cublas_api.h"], xt))
    (folder / "cublasLt.h").write_text(header_text("cublasLt.h", ["stdio.h", "cublas_api.h"], lt))


# ---- wrappers ----

PREAMBLE = """/* SPDX-License-Identifier: Apache-2.0 */
/* Made by sim/blas/generate.py from {source}: do not edit. */
"""


def note(p):
    if p.pointer:
        return f'blas_note_pointer(&call, "{p.name}", (const void *)(uintptr_t){p.name});'
    if p.type in COMPLEX:
        return f'blas_note_complex(&call, "{p.name}", {p.name}.x, {p.name}.y);'
    if p.type in ("float", "double"):
        return f'blas_note_real(&call, "{p.name}", {p.name});'
    if p.type == "__half":
        return f'blas_note_int(&call, "{p.name}", {p.name}.x);'
    return f'blas_note_int(&call, "{p.name}", (int64_t){p.name});'


def check(e):
    """The entry's own argument checks, as far as they follow from the kinds of its parameters."""
    lines = []
    zero = [p.name for p in e.params if p.name in ("m", "n", "k", "batchCount") and p.type in INTEGERS]
    if e.kind in ("gemv", "level2", "level3", "level1", "xt"):
        # k = 0 leaves work to do (C is scaled, a band matrix has its diagonal).
        zero = [z for z in zero if z != "k"]
    for p in e.params:
        if p.type == "size_t" and p.name in ("m", "n", "k"):
            continue  # never negative
        if p.name in ("m", "n", "k", "kl", "ku", "batchCount") and p.type in INTEGERS and e.kind != "level1":
            lines.append(f"blas_expect(&call, {p.name} >= 0);")
        elif p.type == "cublasOperation_t":
            lines.append(f"blas_expect(&call, (int){p.name} >= 0 && (int){p.name} <= 2);")
        elif p.type in ("cublasSideMode_t", "cublasDiagType_t", "cublasFillMode_t"):
            lines.append(f"blas_expect(&call, (int){p.name} >= 0 && (int){p.name} <= {2 if 'Fill' in p.type else 1});")
        elif p.type == "char":
            legal = {"side": "LR", "uplo": "LU", "diag": "NU"}.get(p.name, "NTC")
            lines.append(f'blas_expect_char(&call, {p.name}, "{legal}");')
        elif p.name in ("incx", "incy") and e.kind in ("gemv", "level2"):
            lines.append(f"blas_expect(&call, {p.name} != 0);")
        elif p.name in ("lda", "ldb", "ldc") and p.type in INTEGERS:
            rows = leading_rows(e, p.name)
            if rows:
                signed = f"(int64_t){p.name}" if p.type == "size_t" else p.name
                lines.append(f"blas_expect(&call, {signed} >= blas_at_least_one({rows}));")
    scalars = [p.name for p in e.params if p.name in ("alpha", "beta") and p.pointer]
    if scalars:
        lines.append("blas_expect(&call, " + " && ".join(scalars) + ");")
    quick = " || ".join(f"{z} {'<=' if e.kind == 'level1' else '=='} 0" for z in zero)
    if quick:
        lines.append(f"blas_quick_return(&call, {quick});")
    data = [p.name for p in e.params if p.pointer and p.type not in HANDLES + ("cudaStream_t",)
            and p.name not in scalars + ["workspace"]]
    if data:
        lines.append("blas_expect(&call, " + " && ".join(data) + ");")
    return lines


def is_n(e, name):
    p = next(q for q in e.params if q.name == name)
    return f"(blas_upper({name}) == 'N')" if p.type == "char" else f"({name} == CUBLAS_OP_N)"


def is_left(e):
    p = next((q for q in e.params if q.name in ("side", "mode")), None)
    if p is None:
        return None
    return f"(blas_upper({p.name}) == 'L')" if p.type == "char" else f"({p.name} == CUBLAS_SIDE_LEFT)"


def leading_rows(e, ld):
    """How many rows the matrix of this leading dimension has in column-major storage; None: not checked."""
    family = re.sub(r"^cublas(Xt)?[A-Z]+|_v2|_64", "", e.name)
    if e.kind in ("gemv",) and ld == "lda":
        return "m"
    if e.kind == "xt" and family == "gemm":
        return {"lda": f"{is_n(e, 'transa')} ? m : k", "ldb": f"{is_n(e, 'transb')} ? k : n", "ldc": "m"}[ld]
    if family == "spmm":
        return "m"
    if family in ("geam",):
        return {"lda": f"{is_n(e, 'transa')} ? m : n", "ldb": f"{is_n(e, 'transb')} ? m : n", "ldc": "m"}[ld]
    if family in ("symm", "hemm", "trmm", "trsm", "trsmBatched"):
        return f"{is_left(e)} ? m : n" if ld == "lda" else "m"
    if family in ("syrk", "herk", "syr2k", "her2k", "syrkx", "herkx", "syrkEx", "herkEx", "syrk3mEx", "herk3mEx"):
        return "n" if ld == "ldc" else f"{is_n(e, 'trans')} ? n : k"
    if e.kind == "level2" and ld == "lda":
        return {"gbmv": "(kl + ku + 1)", "tbmv": "(k + 1)", "tbsv": "(k + 1)", "sbmv": "(k + 1)",
                "hbmv": "(k + 1)", "ger": "m", "geru": "m", "gerc": "m"}.get(family, "n")
    if family == "dgmm":
        return "m"
    return None


def formula(e, text):
    size, factor = (LETTERS[e.letter][2], LETTERS[e.letter][3]) if e.letter else (1, 1)
    replacements = {
        "size": f"{size}.0", "s": f"{size}.0", "q": f"{factor}.0", "M": "(double)m", "N": "(double)n",
        "K": "(double)k", "L": "(double)batchCount", "b": "beta_reads", "sx": "blas_type_bytes(xType)",
        "KA": f"(double)({is_left(e)} ? m : n)" if is_left(e) else "0",
        "X": f"(double)({is_n(e, 'trans')} ? n : m)" if e.has("trans") and e.has("m") else "(double)n",
        "Y": f"(double)({is_n(e, 'trans')} ? m : n)" if e.has("trans") and e.has("m") else "(double)n",
    }
    return re.sub(r"\b[A-Za-z]+\b", lambda m: replacements.get(m.group(0), m.group(0)), text)


def nested_in(e):
    """The entry of cuBLAS that does what one of cublasXt asks, by way of the PLT; None: there is none."""
    if e.kind != "xt" or e.name.endswith("spmm"):
        return None
    return e.name.replace("cublasXt", "cublas") + ("_64" if e.name.endswith("kx") else "_v2_64")


def formula_body(e):
    type_ = LETTERS[e.letter][4] if e.letter else ("xType" if e.has("xType") else 3)
    family = re.sub(r"^cublas|_v2|_64$", "", e.name)
    lines = check(e)
    beta = next((p for p in e.params if p.name == "beta"), None)
    if beta is None:
        reads = "0"
    elif beta.type in COMPLEX:
        reads = "beta.x != 0 || beta.y != 0"
    elif not beta.pointer:
        reads = "beta != 0"
    else:
        kind = {"float": 0, "double": 1, "cuComplex": 4, "cuDoubleComplex": 5}[beta.type.replace("const ", "").rstrip(" *")]
        reads = f"blas_scalar_nonzero(&call, beta, {kind})"
    lines.append("if (blas_still_good(&call)) {")
    if "beta_reads" in formula(e, e.bytes):
        lines.append(f"    const double beta_reads = {reads} ? 1.0 : 0.0;")
    blocks_m = "m" if e.has("m") else "n"
    blocks_n = "n" if e.has("n") and e.kind in ("level3", "xt") else "1"
    batch = "batchCount" if e.has("batchCount") else "1"
    if nested_in(e):
        arguments = ", ".join(["call.handle"] + [f"(int64_t){p.name}" if p.type == "size_t" else p.name for p in e.params[1:]])
        lines += ["    if (simgpu_device()->gemm_nested) {",
                  f'        blas_note_real(&call, "flops", {formula(e, e.flops)});',
                  f'        blas_note_real(&call, "bytes", {formula(e, e.bytes)});',
                  f"        blas_settle(&call, (int){nested_in(e)}({arguments}));", "    }"]
    lines.append(f'    blas_run(&call, "{family}", {type_}, {formula(e, e.flops)}, {formula(e, e.bytes)}, '
                 f"{blocks_m}, {blocks_n}, {batch});")
    if not e.legacy and e.has("result"):
        p = next(q for q in e.params if q.name == "result")
        bytes_ = "blas_type_bytes(resultType)" if p.type == "void *" else "sizeof *result"
        lines.append("}")
        lines.append(f"blas_zero_result(&call, result, (size_t){bytes_});")
    else:
        lines.append("}")
    return lines


def gemm_body(e):
    type_ = LETTERS[e.letter][4] if e.letter else None
    names = {p.name for p in e.params}
    call = "blas_gemm"
    lines = [f'blas_note_int(&call, "{f}", {type_});' for f in ("Atype", "Btype", "Ctype") if f not in names]
    if "computeType" not in names:
        lines.append(f'blas_note_int(&call, "computeType", blas_compute_of({type_}));')
    if "batchCount" not in names:
        lines.append('blas_note_int(&call, "batchCount", 1);')
    lines.append("const struct blas_gemm gemm = {")
    for p in e.params:
        if p.type == "cublasHandle_t":
            continue
        if p.type == "char":
            lines.append(f"    .{p.name} = blas_operation({p.name}),")
        elif p.name in ("alpha", "beta") and not p.pointer:
            lines.append(f"    .{p.name} = &{p.name},")
        else:
            field, cast = re.sub(r"^([ABC])array$", r"\1", p.name), "(void *)" if p.name == "Carray" else ""
            lines.append(f"    .{field} = {cast}{p.name},")
    for field in ("Atype", "Btype", "Ctype"):
        if field not in names:
            lines.append(f"    .{field} = {type_},")
    if "batchCount" not in names:
        lines.append("    .batchCount = 1,")
    if "algo" not in names:
        lines.append("    .algo = CUBLAS_GEMM_DEFAULT,")
    if "computeType" not in names:
        lines.append(f"    .computeType = blas_compute_of({type_}),")
    lines.append(f"    .scale_type = {type_ if type_ is not None else 'blas_scale_of(computeType, Atype)'},")
    lines.append(f"    .form = BLAS_{e.kind.upper()}, .legacy = {'true' if e.legacy else 'false'}, "
                 f".wide = {'true' if e.name.endswith('_64') else 'false'}, .ex = {'true' if type_ is None else 'false'},")
    lines.append("};")
    lines.append(f"{call}(&call, &gemm);")
    return lines


def grouped_body(e):
    wide = "true" if e.name.endswith("_64") else "false"
    type_ = LETTERS[e.letter][4] if e.letter else None
    field = lambda n: n if e.has(n) else str(type_)
    compute = "computeType" if e.has("computeType") else f"blas_compute_of({type_})"
    scale = str(type_) if type_ is not None else "blas_scale_of(computeType, Atype)"
    return [
        "const struct blas_groups groups = {",
        "    .transa = transa_array, .transb = transb_array, .m = m_array, .n = n_array, .k = k_array,",
        "    .alpha = alpha_array, .beta = beta_array, .lda = lda_array, .ldb = ldb_array, .ldc = ldc_array,",
        "    .A = (const void *)Aarray, .B = (const void *)Barray, .C = (const void *)Carray,",
        f"    .count = group_count, .size = group_size, .wide = {wide}, .Atype = {field('Atype')},",
        f"    .Btype = {field('Btype')}, .Ctype = {field('Ctype')}, .computeType = {compute}, .scale_type = {scale},",
        "};",
        "blas_gemm_groups(&call, &groups);",
    ]


def default_result(e):
    return {"void": "", "float": "0", "double": "0", "int": "0"}.get(e.returns, f"({e.returns}){{0}}")


def is_result(p):
    """Whether a helper writes one value through it: handles, descriptors, modes, numbers."""
    return p.type.endswith("*") and not p.type.startswith("const ") and p.type not in ("void *", "char *", "FILE *") and not p.array


def helper(e):
    """The hand-written body; the ledger's mode api hears of it."""
    args = ", ".join(p.name for p in e.params)
    if e.returns not in (STATUS, "cublasStatus"):
        return f"SIM_BLAS_API {e.declare()}\n{{\n    {'' if e.returns == 'void' else 'return '}sim_{e.name}({args});\n}}\n"
    rows = ", ".join(f'{{"{p.name}", 5, sizeof(void *), 0, 0}}' if p.array else
                     f"SIMGPU_{'RESULT' if is_result(p) else 'PARAMETER'}({p.name})" for p in e.params)
    told = [f"static const struct simgpu_parameter parameters_of[] = {{{rows}}};",
            f"const void *const passed[] = {{{', '.join('&' + p.name for p in e.params)}}};"] if e.params else []
    fields = f", .parameters = parameters_of, .passed = passed, .parameter_count = {len(e.params)}" if e.params else ""
    lines = told + [f'const struct simgpu_api_call call = {{.function = "{e.name}"{fields}}};',
                    f'const int fault = simgpu_fault("{e.name}");',
                    f"const {e.returns} status = fault ? ({e.returns})fault : sim_{e.name}({args});",
                    "simgpu_ledger_api(&call, (int)status);", "return status;"]
    return f"SIM_BLAS_API {e.declare()}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def wrapper(e):
    if e.kind == "helper":
        return helper(e)
    handle = next((p.name for p in e.params if p.type == "cublasHandle_t"), None)
    if e.kind in ("matmul", "transform"):
        begin = f'blas_begin_lt(&call, "{e.name}", "{e.kind}", lightHandle, stream);'
    else:
        handle = handle or ("blas_xt_handle(handle)" if e.kind == "xt" else None)
        begin = f'blas_begin(&call, "{e.name}", "{e.kind}", {handle or "blas_legacy_handle()"});'
    lines = ["struct blas_call call;", begin] + [note(p) for p in e.params]
    if e.kind in ("matmul", "transform"):
        inner = [f"lt_{e.kind}(&call, {', '.join(p.name for p in e.params)});"]
    elif e.kind == "gemm_grouped":
        inner = grouped_body(e)
    elif e.kind in GEMM_KINDS:
        inner = gemm_body(e)
    else:
        inner = formula_body(e)
    derived = [line for line in inner if e.kind in GEMM_KINDS and line.startswith("blas_note_")]
    lines += derived + ["if (blas_enter(&call)) {"]
    lines += ["    " + line for line in inner if line not in derived] + ["}"]
    if e.legacy and handle is None and e.kind not in ("matmul", "transform"):
        lines.append("blas_legacy_end(&call);")
        if e.returns != "void":
            lines.append(f"return {default_result(e)};")
    else:
        lines.append("return blas_end(&call);")
    return f"SIM_BLAS_API {e.declare()}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def wrappers(library, major=None):
    source = "cublas.list" if library == "cublas" else "cublaslt.list"
    text = PREAMBLE.format(source=source) + '#include "blas.h"\n#include "blas_call.h"\n'
    text += '#include "blas_helpers.h"\n' if library == "cublas" else '#include "lt.h"\n'
    entries = [e for e in entries_of(library) if e.name not in lacking(library, major)]
    text += "\n".join(f"SIM_BLAS_API {e.declare()};" for e in entries if is_legacy(e) or "cpp" in e.flags) + "\n\n"
    return text + "\n".join(wrapper(e) for e in entries)


def helpers(library):
    """Declarations of the hand-written bodies of helpers."""
    guard = f"SIM_BLAS_{library.upper()}_HELPERS_H"
    text = PREAMBLE.format(source="cublas.list" if library == "cublas" else "cublaslt.list")
    text += f"#ifndef {guard}\n#define {guard}\n\n#include \"blas.h\"\n\n#include <stdio.h>\n\n"
    for e in entries_of(library):
        if e.kind == "helper":
            text += e.declare().replace(e.name + "(", f"sim_{e.name}(") + ";\n"
    return text + "\n#endif\n"


# ---- what each CUDA major has ----

def names_of_majors(library):
    """(name, major) of those that one major's library alone exports."""
    for line in (HERE / "majors.tsv").read_text().splitlines():
        if not line.startswith("#"):
            name, of, major = line.split("\t")
            if of == library:
                yield name, major


def lacking(library, major):
    return {name for name, only in names_of_majors(library) if major and only != major}


# ---- stubs, checks, tables for tests ----

def exported_names(library, major=None):
    path = HERE / ("cublas.names" if library == "cublas" else "cublaslt.names")
    names = {line for line in path.read_text().splitlines() if line and not line.startswith("#")}
    names |= {name for name, only in names_of_majors(library) if only == major}
    return sorted(names - lacking(library, major))


def stubs(library, major=None):
    known = {e.name for e in entries_of(library)}
    text = PREAMBLE.format(source="cublas.names" if library == "cublas" else "cublaslt.names")
    text += '#include "sim/core/simgpu.h"\n\n'
    for name in exported_names(library, major):
        if name not in known:
            text += (f"SIMGPU_API int {name}(void);\nint {name}(void)\n{{\n    const int fault = simgpu_fault(\"{name}\");\n"
                     f"    if (fault)\n        return fault;\n    simgpu_not_supported(\"{name}\");\n    return 15;\n}}\n")
    return text


def declared(entries):
    """Names first used, then declared: one that the header lacks does not compile."""
    return ("#ifndef __cplusplus\nextern void (*const declared_by_the_header[])(void);\nvoid (*const declared_by_the_header[])(void) = {\n" +
            "".join(f"    (void (*)(void)){e.name},\n" for e in entries) + "};\n#endif\n")


def public_names(library, major=None):
    return "".join(e.name + "\n" for e in entries_of(library) if e.name not in lacking(library, major))


def all_names(library, major=None):
    return "".join(name + "\n" for name in exported_names(library, major))


def check_source(what):
    text = PREAMBLE.format(source="cublas.list, cublaslt.list and types.list")
    if what == "legacy":
        text += "#include <cublas.h>\n"
        entries = [e for e in entries_of("cublas") if is_legacy(e)]
        return text + declared(entries) + "".join(f"extern {e.declare()};\n" for e in entries)
    text += "#include <cublas_v2.h>\n#include <cublasXt.h>\n" if what == "cublas" else "#include <cublasLt.h>\n"
    text += "#ifdef __cplusplus\nextern \"C\" {\n#define _Static_assert static_assert\n#endif\n"
    text += declared([e for e in entries_of(what) if not is_legacy(e) and "cpp" not in e.flags])
    for e in entries_of(what):
        if is_legacy(e):
            continue
        line = f"extern {e.declare()};\n"
        text += f"#ifdef __cplusplus\n{line}#endif\n" if "cpp" in e.flags else line
    for t in read_types():
        if t[2] not in (("cublas_api", "cublasXt") if what == "cublas" else ("cublasLt",)):
            continue
        if t[0] == "enum":
            text += "".join(f'_Static_assert((int){t[3]}{n} == {v}, "{t[3]}{n}");\n' for n, v in t[4])
        else:
            text += f'_Static_assert(sizeof({t[1]}Opaque_t) == 8 * {t[3]}, "{t[1]}");\n'
    return text + "#ifdef __cplusplus\n}\n#endif\n"


def null_calls(library):
    """All entries as functions of their pointers; every number is 16, so that nothing returns early."""
    text = PREAMBLE.format(source="cublas.list" if library == "cublas" else "cublaslt.list")
    text += '#include "sim_blas_all.h"\n'
    made = []
    for e in entries_of(library):
        args, pointers, handle, optional = [], 0, -1, 0
        for p in e.params:
            if p.pointer:
                if p.type in HANDLES + ("cublasLtHandle_t",):
                    handle = pointers
                if p.type == "cudaStream_t" or p.name in ("workspace", "algo"):
                    optional |= 1 << pointers
                type_ = "void *" if p.array else p.type
                args.append(f"({type_})(uintptr_t)pointers[{pointers}]")
                pointers += 1
            elif p.type == "char":
                args.append({"side": "'L'", "uplo": "'L'", "diag": "'N'"}.get(p.name, "'N'"))
            elif p.type in COMPLEX or p.type == "__half":
                args.append(f"({p.type}){{0}}")
            elif p.type in ENUMS or p.type.startswith(("cublas", "cuda", "library")):
                args.append(f"({p.type}){68 if p.type == 'cublasComputeType_t' else 0}")
            else:
                args.append("16")
        expression = f"{e.name}({', '.join(args)})"
        body = f"    return (long)(intptr_t){expression};" if e.returns not in (
            "void", "float", "double") + COMPLEX else f"    (void){expression};\n    return 0;"
        text += f"static long call_{e.name}(void *const *pointers)\n{{\n    (void)pointers;\n{body}\n}}\n"
        status = e.returns == STATUS
        made.append(f'    {{"{e.name}", "{e.kind}", {"true" if status else "false"}, {pointers}, {handle}, '
                    f"{optional}u, call_{e.name}}},\n")
    return text + f"const struct null_call {library}_null_calls[] = {{\n" + "".join(made) + "    {0},\n};\n"


def all_declarations():
    """For tests: every entry of both libraries, the legacy and C++-only ones too."""
    text = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by sim/blas/generate.py. */\n#include <cublasLt.h>\n#include <cublasXt.h>\n#include <stdbool.h>\n"
    text += "typedef struct { unsigned short x; } __half;\ntypedef struct { unsigned short x; } __nv_bfloat16;\n"
    text += "typedef cublasStatus_t cublasStatus;\n"
    text += ("/* optional: a bit for each pointer that may be NULL; handle: which pointer is one, or -1. */\n"
             "struct null_call {\n    const char *name, *kind;\n    bool returns_status;\n    int pointers, handle;\n"
             "    unsigned optional;\n    long (*call)(void *const *pointers);\n};\n")
    text += "extern const struct null_call cublas_null_calls[], cublasLt_null_calls[];\n"
    return text + "".join(e.declare() + ";\n" for e in entries_of("cublas") if is_legacy(e) or "cpp" in e.flags)


def main(argv):
    if len(argv) == 3 and argv[1] == "headers":
        headers(argv[2])
    elif len(argv) == 3 and argv[1] in ("helpers", "check", "nulls") and argv[2] in ("cublas", "cublasLt", "legacy"):
        made = {"helpers": helpers, "check": check_source, "nulls": null_calls}[argv[1]]
        sys.stdout.write(made(argv[2]))
    elif len(argv) in (3, 4) and argv[1] in ("wrappers", "stubs", "names", "exports") and argv[2] in ("cublas", "cublasLt"):
        made = {"wrappers": wrappers, "stubs": stubs, "names": public_names, "exports": all_names}[argv[1]]
        sys.stdout.write(made(argv[2], *argv[3:]))
    elif argv[1:] == ["declarations"]:
        sys.stdout.write(all_declarations())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv)
