# SPDX-License-Identifier: BSD-3-Clause
"""Writes the inline functions of OpenSHMEM, for include/crestacoll_shmem.h.

Types and names are those of the tables of OpenSHMEM 1.5, sections 9.5 to 9.10.
"""

from __future__ import annotations

_INTEGERS = {
    "int": ("int", "MPI_INT"),
    "long": ("long", "MPI_LONG"),
    "longlong": ("long long", "MPI_LONG_LONG"),
    "uint": ("unsigned int", "MPI_UNSIGNED"),
    "ulong": ("unsigned long", "MPI_UNSIGNED_LONG"),
    "ulonglong": ("unsigned long long", "MPI_UNSIGNED_LONG_LONG"),
    "int32": ("int32_t", "MPI_INT32_T"),
    "int64": ("int64_t", "MPI_INT64_T"),
    "uint32": ("uint32_t", "MPI_UINT32_T"),
    "uint64": ("uint64_t", "MPI_UINT64_T"),
    "size": ("size_t", "CRESTA_SHMEM_SIZE"),
    "ptrdiff": ("ptrdiff_t", "MPI_AINT"),
}
_SMALL = {
    "char": ("char", "MPI_CHAR"),
    "schar": ("signed char", "MPI_SIGNED_CHAR"),
    "short": ("short", "MPI_SHORT"),
    "uchar": ("unsigned char", "MPI_UNSIGNED_CHAR"),
    "ushort": ("unsigned short", "MPI_UNSIGNED_SHORT"),
    "int8": ("int8_t", "MPI_INT8_T"),
    "int16": ("int16_t", "MPI_INT16_T"),
    "uint8": ("uint8_t", "MPI_UINT8_T"),
    "uint16": ("uint16_t", "MPI_UINT16_T"),
}
_REALS = {
    "float": ("float", "MPI_FLOAT"),
    "double": ("double", "MPI_DOUBLE"),
    "longdouble": ("long double", "MPI_LONG_DOUBLE"),
}
_COMPLEX = {
    "complexf": ("float _Complex", "MPI_C_FLOAT_COMPLEX"),
    "complexd": ("double _Complex", "MPI_C_DOUBLE_COMPLEX"),
}
TYPES = {**_REALS, **_SMALL, **_INTEGERS}
# Different types of C, for selections by type.
GENERIC = [*_REALS, "char", "schar", "short", "uchar", "ushort", *list(_INTEGERS)[:6]]
BITWISE = ["uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64"]
ATOMIC = list(_INTEGERS)
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}

_BITS = ["uchar", "ushort", "uint", "ulong", "ulonglong", "size",
         *(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))]
_ORDERED = [name for name in TYPES if name != "char"]
# Operation: its name in MPI, types of the form with teams, types of the form with active sets.
_OLD = ["short", "int", "long", "longlong"]
REDUCTIONS = {
    "and": ("MPI_BAND", _BITS, _OLD),
    "or": ("MPI_BOR", _BITS, _OLD),
    "xor": ("MPI_BXOR", _BITS, _OLD),
    "max": ("MPI_MAX", _ORDERED, _OLD + list(_REALS)),
    "min": ("MPI_MIN", _ORDERED, _OLD + list(_REALS)),
    "sum": ("MPI_SUM", _ORDERED + list(_COMPLEX), _OLD + list(_REALS) + list(_COMPLEX)),
    "prod": ("MPI_PROD", _ORDERED + list(_COMPLEX), _OLD + list(_REALS) + list(_COMPLEX)),
}
ACTIVE = "int PE_start, int logPE_stride, int PE_size"
SET = "CRESTA_Shmem_active_set(PE_start, 1 << logPE_stride, PE_size)"

PLAIN = [
    ("void", "shmem_init", "void", ["(void)CRESTA_Shmem_begin(SHMEM_THREAD_SINGLE, NULL);"]),
    ("int", "shmem_init_thread", "int requested, int *provided",
     ["return CRESTA_Shmem_begin(requested, provided);"]),
    ("void", "shmem_query_thread", "int *provided", ["*provided = CRESTA_Shmem_thread();"]),
    ("void", "shmem_finalize", "void", ["CRESTA_Shmem_end();"]),
    ("void", "shmem_global_exit", "int status", ["CRESTA_Shmem_global_exit(status);"]),
    ("int", "shmem_my_pe", "void", ["return CRESTA_Shmem_pe(SHMEM_TEAM_WORLD);"]),
    ("int", "shmem_n_pes", "void", ["return CRESTA_Shmem_pes(SHMEM_TEAM_WORLD);"]),
    ("int", "shmem_pe_accessible", "int pe",
     ["return CRESTA_Shmem_reaches(pe);"]),
    ("int", "shmem_addr_accessible", "const void *addr, int pe",
     ["return CRESTA_Shmem_ptr(addr, pe) != NULL;"]),
    ("void *", "shmem_ptr", "const void *dest, int pe", ["return CRESTA_Shmem_ptr(dest, pe);"]),
    ("void", "shmem_info_get_version", "int *major, int *minor",
     ["*major = SHMEM_MAJOR_VERSION;", "*minor = SHMEM_MINOR_VERSION;"]),
    ("void", "shmem_info_get_name", "char *name",
     ["strcpy(name, SHMEM_VENDOR_STRING);"]),
    ("void *", "shmem_malloc", "size_t size", ["return CRESTA_Shmem_alloc(0, size, 0);"]),
    ("void *", "shmem_malloc_with_hints", "size_t size, long hints",
     ["(void)hints;", "return CRESTA_Shmem_alloc(0, size, 0);"]),
    ("void *", "shmem_calloc", "size_t count, size_t size",
     ["const size_t most = (size_t)-1;",
      "return CRESTA_Shmem_alloc(0, size == 0 || count <= most / size ? count * size : most, 1);"]),
    ("void *", "shmem_align", "size_t alignment, size_t size",
     ["return CRESTA_Shmem_alloc(alignment, size, 0);"]),
    ("void *", "shmem_realloc", "void *ptr, size_t size",
     ["return CRESTA_Shmem_realloc(ptr, size);"]),
    ("void", "shmem_free", "void *ptr", ["CRESTA_Shmem_free(ptr);"]),
    ("void", "shmem_fence", "void", ["__atomic_thread_fence(__ATOMIC_RELEASE);"]),
    ("void", "shmem_quiet", "void", ["__atomic_thread_fence(__ATOMIC_SEQ_CST);"]),
    ("void", "shmem_barrier_all", "void",
     ["shmem_quiet();", "(void)CRESTA_Shmem_barrier(SHMEM_TEAM_WORLD);"]),
    ("void", "shmem_sync_all", "void", ["(void)CRESTA_Shmem_barrier(SHMEM_TEAM_WORLD);"]),
    ("void", "shmem_barrier", f"{ACTIVE}, long *pSync",
     ["(void)pSync;", "shmem_quiet();", f"(void)CRESTA_Shmem_barrier({SET});"]),
    ("int", "shmem_team_sync", "shmem_team_t team", ["return CRESTA_Shmem_barrier(team);"]),
    ("void", "cresta_shmem_sync_set", f"{ACTIVE}, long *pSync",
     ["(void)pSync;", f"(void)CRESTA_Shmem_barrier({SET});"]),
    ("int", "shmem_team_my_pe", "shmem_team_t team", ["return CRESTA_Shmem_pe(team);"]),
    ("int", "shmem_team_n_pes", "shmem_team_t team", ["return CRESTA_Shmem_pes(team);"]),
    ("int", "shmem_team_translate_pe", "shmem_team_t src_team, int src_pe, shmem_team_t dest_team",
     ["return CRESTA_Shmem_translate(src_team, src_pe, dest_team);"]),
    ("int", "shmem_team_get_config",
     "shmem_team_t team, long config_mask, shmem_team_config_t *config",
     ["if (CRESTA_Shmem_pe(team) < 0)", "    return -1;",
      "if (config_mask & SHMEM_TEAM_NUM_CONTEXTS)", "    config->num_contexts = 0;",
      "return 0;"]),
    ("int", "shmem_team_split_strided",
     "shmem_team_t parent_team, int start, int stride, int size,"
     " const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team",
     ["(void)config, (void)config_mask;",
      "return CRESTA_Shmem_split(parent_team, start, stride, size, new_team);"]),
    ("int", "shmem_team_split_2d",
     "shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,"
     " long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,"
     " long yaxis_mask, shmem_team_t *yaxis_team",
     ["(void)xaxis_config, (void)xaxis_mask, (void)yaxis_config, (void)yaxis_mask;",
      "return CRESTA_Shmem_split_2d(parent_team, xrange, xaxis_team, yaxis_team);"]),
    ("void", "shmem_team_destroy", "shmem_team_t team", ["CRESTA_Shmem_destroy(team);"]),
]


def _function(result: str, name: str, parameters: str, body: list[str]) -> str:
    head = f"static inline {result}{'' if result.endswith('*') else ' '}{name}("
    lines, line, indent = [], head, " " * len(head)
    if len(head) > 60:
        lines, line, indent = [head], "    ", "    "
    words = parameters.split(", ")
    for i, word in enumerate(words):
        piece = word + ("," if i + 1 < len(words) else ")")
        if len(line) + len(piece) > 98 and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += piece + " "
    lines.append(line.rstrip())
    return "\n".join(lines) + "\n{\n" + "".join(f"    {one}\n" for one in body) + "}\n\n"


def _copies(name: str, c: str, elements: str, width: str) -> str:
    """put, get, their forms that need not be complete, and put with a signal."""
    text, pair = "", f"{c} *dest, const {c} *source, size_t nelems"
    size = [f"const size_t bytes = {width}nelems;"]
    for form in ("", "_nbi"):
        text += _function(
            "void", f"shmem_{name}put{elements}{form}", f"{pair}, int pe",
            [*size, "memmove(CRESTA_Shmem_at(dest, bytes, pe, \"shmem_put\"), source, bytes);"])
        text += _function(
            "void", f"shmem_{name}get{elements}{form}", f"{pair}, int pe",
            [*size, "memmove(dest, CRESTA_Shmem_at(source, bytes, pe, \"shmem_get\"), bytes);"])
        text += _function(
            "void", f"shmem_{name}put{elements}_signal{form}",
            f"{pair}, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe",
            [*size,
             "memmove(CRESTA_Shmem_at(dest, bytes, pe, \"shmem_put_signal\"), source, bytes);",
             "cresta_shmem_signal(sig_addr, signal, sig_op, pe);"])
    return text


def _typed_collectives(name: str, c: str) -> str:
    text = ""
    sized = f"sizeof({c})"
    common = f"shmem_team_t team, {c} *dest, const {c} *source"
    text += _function(
        "int", f"shmem_{name}_broadcast", f"{common}, size_t nelems, int PE_root",
        [f"return CRESTA_Shmem_broadcast(team, dest, source, nelems * {sized}, PE_root, 1);"])
    for call in ("collect", "fcollect", "alltoall"):
        text += _function(
            "int", f"shmem_{name}_{call}", f"{common}, size_t nelems",
            [f"return CRESTA_Shmem_{call}(team, dest, source, nelems, {sized});"])
    return text + _function(
        "int", f"shmem_{name}_alltoalls", f"{common}, ptrdiff_t dst, ptrdiff_t sst, size_t nelems",
        [f"return CRESTA_Shmem_alltoalls(team, dest, source, dst, sst, nelems, {sized});"])


def _untyped_collectives() -> str:
    text = _function(
        "int", "shmem_broadcastmem",
        "shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root",
        ["return CRESTA_Shmem_broadcast(team, dest, source, nelems, PE_root, 1);"])
    for call in ("collect", "fcollect", "alltoall"):
        text += _function(
            "int", f"shmem_{call}mem",
            "shmem_team_t team, void *dest, const void *source, size_t nelems",
            [f"return CRESTA_Shmem_{call}(team, dest, source, nelems, 1);"])
    text += _function(
        "int", "shmem_alltoallsmem",
        "shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,"
        " size_t nelems",
        ["return CRESTA_Shmem_alltoalls(team, dest, source, dst, sst, nelems, 1);"])
    common, unused = "void *dest, const void *source", "(void)pSync;"
    for bits, width in (("32", 4), ("64", 8)):
        text += _function(
            "void", f"shmem_broadcast{bits}",
            f"{common}, size_t nelems, int PE_root, {ACTIVE}, long *pSync",
            [unused, f"(void)CRESTA_Shmem_broadcast({SET}, dest,",
             f"                             source, {width} * nelems, PE_root, 0);"])
        for call in ("collect", "fcollect", "alltoall"):
            text += _function(
                "void", f"shmem_{call}{bits}", f"{common}, size_t nelems, {ACTIVE}, long *pSync",
                [unused, f"(void)CRESTA_Shmem_{call}({SET}, dest,",
                 f"    source, nelems, {width});"])
        text += _function(
            "void", f"shmem_alltoalls{bits}",
            f"{common}, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, {ACTIVE}, long *pSync",
            [unused, f"(void)CRESTA_Shmem_alltoalls({SET}, dest,",
             f"    source, dst, sst, nelems, {width});"])
    return text


def _reductions() -> str:
    text, every = "", {**TYPES, **_COMPLEX}
    for op, (mpi, teams, sets) in REDUCTIONS.items():
        for name in teams:
            c, datatype = every[name]
            text += "#ifndef __cplusplus\n" * (name == "complexf")
            text += _function(
                "int", f"shmem_{name}_{op}_reduce",
                f"shmem_team_t team, {c} *dest, const {c} *source, size_t nreduce",
                [f"return CRESTA_Shmem_reduce(team, dest, source, nreduce, {datatype}, {mpi});"])
            text += "#endif\n\n" * (name == "complexd")
        for name in sets:
            c, datatype = every[name]
            text += "#ifndef __cplusplus\n" * (name == "complexf")
            text += _function(
                "void", f"shmem_{name}_{op}_to_all",
                f"{c} *dest, const {c} *source, int nreduce, int PE_start, int logPE_stride,"
                f" int PE_size, {c} *pWrk, long *pSync",
                ["(void)pWrk, (void)pSync;",
                 f"(void)CRESTA_Shmem_reduce({SET}, dest,",
                 f"    source, nreduce < 0 ? 0 : (size_t)nreduce, {datatype}, {mpi});"])
            text += "#endif\n\n" * (name == "complexd")
    return text


def _single(name: str, c: str) -> str:
    return _function(
        "void", f"shmem_{name}_p", f"{c} *dest, {c} value, int pe",
        [f"*(volatile {c} *)CRESTA_Shmem_at(dest, sizeof *dest, pe, \"shmem_p\") = value;"]
    ) + _function(
        c, f"shmem_{name}_g", f"const {c} *source, int pe",
        [f"return *(const volatile {c} *)CRESTA_Shmem_at(source, sizeof *source, pe, \"shmem_g\");"]
    )


def _waits(name: str, c: str) -> str:
    text = _function(
        "int", f"shmem_{name}_test", f"{c} *ivar, int cmp, {c} cmp_value",
        [f"const {c} now = __atomic_load_n(ivar, __ATOMIC_ACQUIRE);",
         "switch (cmp) {",
         *(f"case SHMEM_CMP_{word}: return now {sign} cmp_value;" for word, sign in
           (("EQ", "=="), ("NE", "!="), ("GT", ">"), ("GE", ">="), ("LT", "<"), ("LE", "<="))),
         "default: return 0;", "}"])
    return text + _function(
        "void", f"shmem_{name}_wait_until", f"{c} *ivar, int cmp, {c} cmp_value",
        [f"for (int tries = 0; !shmem_{name}_test(ivar, cmp, cmp_value);)",
         "    CRESTA_Shmem_pause(&tries);"])


def _atomic(c: str, name: str, call: str, arguments: str, result: str, how: str) -> str:
    """One of the atomic operations; `how` has the address as `at`."""
    space = ", " if arguments else ""
    return _function(
        result, f"shmem_{name}_atomic_{call}", f"{c} *dest{space}{arguments}, int pe",
        [f"{c} *at = ({c} *)CRESTA_Shmem_at(dest, sizeof *dest, pe, \"shmem_atomic\");",
         *how.split("\n")])


def _atomics(name: str, c: str) -> str:
    order = "__ATOMIC_SEQ_CST"
    text = _atomic(c, name, "fetch", "", c, f"return __atomic_load_n(at, {order});")
    text += _atomic(c, name, "set", f"{c} value", "void", f"__atomic_store_n(at, value, {order});")
    text += _atomic(c, name, "swap", f"{c} value", c,
                    f"return __atomic_exchange_n(at, value, {order});")
    text += _atomic(c, name, "compare_swap", f"{c} cond, {c} value", c,
                    f"__atomic_compare_exchange_n(at, &cond, value, 0, {order}, {order});\n"
                    "return cond;")
    ops = {"add": "add", **({op: op for op in ("and", "or", "xor")} if name in BITWISE else {})}
    for op, builtin in ops.items():
        text += _atomic(c, name, op, f"{c} value", "void",
                        f"(void)__atomic_fetch_{builtin}(at, value, {order});")
        text += _atomic(c, name, f"fetch_{op}", f"{c} value", c,
                        f"return __atomic_fetch_{builtin}(at, value, {order});")
    text += _atomic(c, name, "inc", "", "void", f"(void)__atomic_fetch_add(at, 1, {order});")
    return text + _atomic(c, name, "fetch_inc", "", c,
                          f"return __atomic_fetch_add(at, 1, {order});")


SIGNALS = """\
static inline void cresta_shmem_signal(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    uint64_t *at = (uint64_t *)CRESTA_Shmem_at(sig_addr, sizeof *at, pe, "shmem_put_signal");
    if (sig_op == SHMEM_SIGNAL_ADD)
        (void)__atomic_fetch_add(at, signal, __ATOMIC_RELEASE);
    else
        __atomic_store_n(at, signal, __ATOMIC_RELEASE);
}

static inline uint64_t shmem_signal_fetch(const uint64_t *sig_addr)
{
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}

"""

SIGNAL_WAIT = """\
static inline uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    shmem_uint64_wait_until(sig_addr, cmp, cmp_value);
    return shmem_signal_fetch(sig_addr);
}

"""


def _select(function: str, argument: str, names: list[str], rest: str) -> str:
    """A macro that selects a function by the type that `argument` points to."""
    text = f"#define shmem_{function}(...) "
    choices = [f"{TYPES[n][0]} *: shmem_{n}_{function}" for n in names]
    if rest == "const":
        choices += [f"const {TYPES[n][0]} *: shmem_{n}_{function}" for n in names]
    body = ", ".join(choices)
    return text + f"_Generic({argument}, {body})(__VA_ARGS__)\n"


def _fold_macro(line: str) -> str:
    """A macro in lines that fit."""
    out, rest = [], line.rstrip("\n")
    while len(rest) > 96:
        cut = rest.rfind(", ", 0, 96) + 1
        out.append(rest[:cut].ljust(97) + "\\")
        rest = "    " + rest[cut:].strip()
    return "\n".join([*out, rest]) + "\n"


def _generics() -> str:
    first = "CRESTA_SHMEM_FIRST(__VA_ARGS__, 0)"
    second = "CRESTA_SHMEM_SECOND(__VA_ARGS__, 0, 0)"
    reads = [*GENERIC]
    whole = [name for name in GENERIC if name in ATOMIC]
    text = (
        "/* Selection by type (C11); the team is the first argument of collectives. */\n"
        "#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
        "#define CRESTA_SHMEM_FIRST(first, ...) (first)\n"
        "#define CRESTA_SHMEM_SECOND(first, second, ...) (second)\n")
    for call in ("put", "put_nbi", "get", "get_nbi", "put_signal", "put_signal_nbi", "p"):
        text += _fold_macro(_select(call, first, reads, ""))
    text += _fold_macro(_select("g", first, reads, "const"))
    for call in ("wait_until", "test"):
        text += _fold_macro(_select(call, first, whole, ""))
    for call in ("fetch", "set", "swap", "compare_swap", "add", "fetch_add", "inc", "fetch_inc"):
        text += _fold_macro(_select(f"atomic_{call}", first, whole, ""))
    for call in ("and", "or", "xor"):
        bits = [name for name in whole if name in BITWISE]
        text += _fold_macro(_select(f"atomic_{call}", first, bits, ""))
        text += _fold_macro(_select(f"atomic_fetch_{call}", first, bits, ""))
    for call in ("broadcast", "collect", "fcollect", "alltoall", "alltoalls"):
        text += _fold_macro(_select(call, second, reads, ""))
    for op, (_, teams, _) in REDUCTIONS.items():
        names = [name for name in GENERIC if name in teams]
        text += _fold_macro(_select(f"{op}_reduce", second, names, ""))
    return text + "#endif\n\n"


# shmem_sync is a name of two functions, of teams and of active sets, also without C11.
SYNC = """\
#define CRESTA_SHMEM_FIFTH(a, b, c, d, e, ...) e
#define shmem_sync(...)                                                                          \\
    CRESTA_SHMEM_FIFTH(__VA_ARGS__, cresta_shmem_sync_set, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

"""


def header(_table: list) -> str:
    text = (
        "/* OpenSHMEM 1.5 as inline functions; see crestacoll_shmem.h, which includes this. */\n"
        "#ifndef CRESTACOLL_SHMEM_PROTO_H\n#define CRESTACOLL_SHMEM_PROTO_H\n\n"
        "#define CRESTA_SHMEM_SIZE (sizeof(size_t) == 8 ? MPI_UINT64_T : MPI_UINT32_T)\n\n")
    text += "".join(_function(*one) for one in PLAIN) + SIGNALS
    text += _copies("", "void", "mem", "")
    for name, (c, _) in TYPES.items():
        text += _copies(f"{name}_", c, "", "sizeof *dest * ")
        text += _single(name, c) + _typed_collectives(name, c)
    for bits, width in SIZES.items():
        text += _copies("", "void", bits, f"{width} * ")
    for name in ATOMIC:
        c = TYPES[name][0]
        text += _waits(name, c) + _atomics(name, c)
    text += SIGNAL_WAIT + _untyped_collectives() + _reductions()
    return text + _generics() + SYNC + "#endif\n"
