"""The compiled kernels of attention: loaded from Numba's cache, or compiled beside the process.

Compiling takes fifteen to thirty seconds for each library, once for each machine and version; loading
takes less than one. What has to come out the same every time, a training or a file of predictions that can
be gone on with, waits for the former (`wait_for_kernels`). Nobody else does: a process that finds nothing
compiled has it done by another one in the background, and works without. It keeps to that until it ends
or has to wait, so that its results do not depend on when the compiler was done.

The environment variable HEADWISE_KERNELS says otherwise: `wait` compiles at once, `background` never waits,
`off` never uses them.
"""

import contextlib
import hashlib
import importlib
import logging
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

VARIABLE = "HEADWISE_KERNELS"
_STALE = 600  # seconds after which who was to compile is thought to be dead
BANDED = "banded_kernels"
EDGES = "edge_kernels"
_SHARED = ("simd.py", "products.py", "lane_blocks.py", "online_softmax.py")
_SOURCES = {
    BANDED: (*_SHARED, "banded_kernels.py"),
    EDGES: (*_SHARED, "tree_kernels.py", "edge_kernels.py"),
}
"""The libraries of kernels: modules of this package, and the files that they depend on."""

Kernels = ModuleType
"""A library whose functions, those in its `SIGNATURES`, are compiled."""

_LATER = "its kernels are being compiled for the next process"
_log = logging.getLogger(__name__)
_lock = threading.RLock()
_decisions: dict[str, Kernels | str] = {}
_compilers: dict[str, subprocess.Popen[bytes]] = {}
_waiting = 0  # how often `wait_for_kernels` has been entered
_followed: set[str] = set()
"""Libraries that are not used because the run that is resumed did not use them."""


def compiled_kernels(library: str = BANDED) -> Kernels | str:
    """The compiled kernels, or the reason why this process does not use them. The decision is made once per
    process, unless it calls `prepare` or enters `wait_for_kernels`."""
    decision = _decisions.get(library)
    if decision is None:
        with _lock:
            if library not in _decisions:
                _decisions[library] = _decide(library)
            decision = _decisions[library]
    return decision


@contextlib.contextmanager
def wait_for_kernels() -> Iterator[None]:
    """Context manager in which a request for kernels waits until they are compiled, so that results do not
    depend on the state of the kernel cache or on earlier decisions of this process. Waiting is logged. At
    the end, decisions made by `reuse_decisions` within it are discarded."""
    global _waiting
    with _lock:
        if not _waiting:
            for library in [name for name, decision in _decisions.items() if isinstance(decision, str)]:
                del _decisions[library]
        _waiting += 1
    try:
        yield
    finally:
        with _lock:
            _waiting -= 1
            if not _waiting:
                while _followed:
                    _decisions.pop(_followed.pop(), None)


def prepare(library: str = BANDED) -> Kernels | str:
    """Like `compiled_kernels`, but waits until the kernels are compiled, and decides anew."""
    with _lock:
        decision = _decisions.get(library)
        if isinstance(decision, ModuleType):
            return decision
        module = _module(library)
        if isinstance(module, ModuleType):
            if not _ready(module):
                _log.info(
                    "compiling the kernels of attention (%s): once for each machine and version, up to "
                    "half a minute ...",
                    library.removesuffix("_kernels"),
                )
            while not _ready(module) and _at_work(module):
                time.sleep(0.1)
        _decisions[library] = module if isinstance(module, str) else _claimed(module)
        return _decisions[library]


def decisions() -> dict[str, bool]:
    """The kernel libraries that this process has requested so far, and whether it uses them."""
    return {library: isinstance(decision, ModuleType) for library, decision in _decisions.items()}


def describe() -> dict[str, str]:
    """`decisions` as text: compiler and processor of the kernels, or why this process does not use them."""
    reasons = {library: decided for library, decided in _decisions.items() if isinstance(decided, str)}
    if len(reasons) < len(_decisions):
        import llvmlite.binding as llvm
        import numba

        by = f"compiled by Numba {numba.__version__} for {llvm.get_host_cpu_name()}"
        reasons |= {library: by for library in _decisions if library not in reasons}
    return dict(sorted(reasons.items()))


def reuse_decisions(decided: Mapping[str, bool]) -> None:
    """Compute with the libraries that another process computed with, and without the others, so that what
    it began ends the same, until the end of `wait_for_kernels`. A library that cannot be had here is done
    without, with a warning to this module's logger."""
    for library, with_it in decided.items():
        if library not in _SOURCES:
            continue
        if with_it:
            if isinstance(why := prepare(library), str):
                _log.warning(
                    "the run began with the kernels of attention (%s), which cannot be had here: %s; so it "
                    "goes on without, slower, and its weights end differently in the last digits",
                    library.removesuffix("_kernels"),
                    why,
                )
        else:
            _decisions[library] = "the run that is gone on with began without it"
            _followed.add(library)


def _decide(library: str) -> Kernels | str:
    mode = os.environ.get(VARIABLE) or ("wait" if _waiting else "background")
    if mode == "off":
        return f"it is switched off by {VARIABLE}=off"
    if mode == "wait":
        return prepare(library)
    module = _module(library)
    if isinstance(module, str):
        return module
    if _ready(module):
        return _load(module)
    return _compile_in_background(module)


def _module(library: str) -> ModuleType | str:
    """The kernels before they are compiled, or why there are none."""
    try:
        import numba.core.config

        if numba.core.config.DISABLE_JIT:  # pyright: ignore[reportAttributeAccessIssue]
            return "Numba is switched off by NUMBA_DISABLE_JIT"
        module = importlib.import_module(f"headwise.nn.attention.cpu.{library}")
    except ImportError as error:
        return f"Numba cannot be imported ({error})"
    except RuntimeError as error:
        return f"Numba finds no folder to keep compiled kernels in, set NUMBA_CACHE_DIR ({error})"
    return module


def _load(module: ModuleType) -> Kernels:
    """The kernels from Numba's cache, or compiled now."""
    cached = _ready(module)
    for kernel, signatures in module.SIGNATURES.items():
        if len(kernel.signatures) == len(signatures):
            continue  # this process has loaded them before, and done without since
        for signature in signatures:
            kernel.compile(signature)
        if not cached and kernel.stats.cache_hits:
            # Numba's cache is by the file of a function, not by that of the functions it calls.
            kernel.recompile()
        kernel.disable_compile()
    if not cached:
        _note(module)
    return module


def _claimed(module: ModuleType) -> Kernels:
    """The kernels; where they have to be compiled, others are told to wait for them."""
    if _ready(module):
        return _load(module)
    claim = _claim(module)
    with contextlib.suppress(OSError):
        claim.parent.mkdir(parents=True, exist_ok=True)
        _sign(claim)
    try:
        return _load(module)
    finally:
        with contextlib.suppress(OSError):
            claim.unlink()


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _key(library: str) -> str:
    """Everything that the compiled kernels depend on."""
    import llvmlite
    import llvmlite.binding as llvm
    import numba

    parts = [numba.__version__, llvmlite.__version__, platform.python_version(), sys.prefix]
    parts += [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    digest = hashlib.sha256("\n".join(parts).encode())
    for name in _SOURCES[library]:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:16]


def _folder(module: ModuleType) -> Path:
    return Path(module.forward.stats.cache_path)


def _mark(module: ModuleType) -> Path:
    """The file which says that the kernels are compiled, with the names of the files that they are in."""
    return _folder(module) / f"headwise-{_key(_name(module))}.ready"


def _ready(module: ModuleType) -> bool:
    try:
        names = _mark(module).read_text().split("\n")
        return all((_folder(module) / name).exists() for name in names)
    except OSError:
        return False


def _note(module: ModuleType) -> None:
    stems = [f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}" for kernel in module.SIGNATURES]
    names = sorted(path.name for stem in stems for path in _folder(module).glob(f"{stem}-*.nb?"))
    mark = _mark(module)
    part = mark.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # then it is compiled again
        part.write_text("\n".join(names))
        part.replace(mark)


def _claim(module: ModuleType) -> Path:
    """The file which says that somebody is compiling the kernels, and who."""
    return _mark(module).with_suffix(".claim")


def _sign(claim: Path) -> None:
    claim.write_text(f"{os.getpid()} {platform.node()}")


def _at_work(module: ModuleType) -> bool:
    """Whether a compiler has been started and not yet ended, as far as can be seen."""
    claim = _claim(module)
    try:
        process, _, machine = claim.read_text().partition(" ")
        age = time.time() - claim.stat().st_mtime
    except (OSError, ValueError):
        return False
    if process.isdigit() and machine == platform.node() and os.name == "posix":
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            pass
    return age < _STALE


def _compile_in_background(module: ModuleType) -> str:
    """Start the compiler, if no other process has; returns why this process does without."""
    if _at_work(module):
        return _LATER
    claim = _claim(module)
    arguments = f"{_name(module)!r}, {str(claim)!r}"
    code = f"from headwise.nn.attention.cpu import compiled; compiled.compile_for_others({arguments})"
    paths = [str(Path(__file__).parents[4]), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        claim.parent.mkdir(parents=True, exist_ok=True)
        claim.write_text("")
        os.utime(claim)
        compiler = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        with contextlib.suppress(OSError):
            claim.unlink()
        return f"its kernels cannot be compiled in the background ({error}); call prepare()"
    compiler.returncode = 0  # nobody waits for it: without this, Python warns that it still runs
    _compilers[_name(module)] = compiler
    return _LATER


def compile_for_others(library: str, claim: str) -> None:
    """Entry point of the background process that compiles the kernels."""
    if hasattr(os, "nice"):
        os.nice(10)
    try:
        with contextlib.suppress(OSError):
            _sign(Path(claim))
        module = _module(library)
        if isinstance(module, ModuleType):
            _load(module)
    finally:
        Path(claim).unlink(missing_ok=True)
