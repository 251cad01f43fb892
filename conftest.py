"""Test set-up: spinlib in the notebook kernels, one BLAS thread, one worker a notebook, a time budget a chapter.

The budget (NB_BUDGET_S, 60) counts processor seconds of the chapter's kernel and of the processes that it starts,
so another program that runs at the same time does not turn a chapter red.
"""

import os
import pathlib

import psutil
import pytest

ROOT = pathlib.Path(__file__).parent
os.environ["PYTHONPATH"] = os.pathsep.join(
    p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p
)
# A kernel raises where an iteration does not converge, so no page can show such a number unless its cell says so.
os.environ["PYTHONWARNINGS"] = "error::RuntimeWarning"
os.environ.pop(
    "MPLBACKEND", None
)  # kernels choose their own backend: with agg no notebook would show a figure
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

BUDGET_S = float(os.environ.get("NB_BUDGET_S", "60"))
PROCESSOR_S = "processor seconds of the kernel so far"
CHAPTER_SECONDS = (
    "book/chapter_seconds"  # a file in pytest's cache: of the last run of each chapter
)
_wall: dict[str, float] = {}
_processor: dict[str, float] = {}


def pytest_configure(config):
    option = config.option
    if not getattr(option, "nbval_sanitize_with", None):
        option.nbval_sanitize_with = str(ROOT / "tests" / "nbval_sanitize.cfg")
    if (
        getattr(option, "dist", "no") == "load"
    ):  # xdist: the cells of one notebook must stay together
        option.dist = "loadscope"
    if getattr(option, "nbval", False) and not hasattr(config, "workerinput"):
        # Once on a new machine matplotlib lists the fonts; on a slow one a chapter would print that it does.
        from matplotlib import font_manager

        font_manager.findfont("DejaVu Sans")


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):  # a figure stored with myst_nb.glue is PNG bytes too
        collector.skip_compare += ("application/papermill.record/image/png",)


def processor_seconds(pid: int) -> float:
    """Processor seconds that a process and its children have used since it started (macOS forgets ended children)."""
    try:
        process = psutil.Process(pid)
        total = sum(
            process.cpu_times()[:4]
        )  # user, system, and the same of the children that have ended
        for child in process.children(recursive=True):
            try:
                total += sum(child.cpu_times()[:4])
            except psutil.Error:  # it ended meanwhile
                pass
        return total
    except psutil.Error:
        return 0.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """After each cell of a notebook: what its kernel has used so far, and a failure in words where that is too much."""
    kernel = getattr(item.parent, "kernel", None)  # nbval's collector has one, nothing else does
    if kernel is None:
        return (yield)
    pid = kernel.km.provisioner.pid
    try:
        result = yield
    finally:
        seconds = processor_seconds(pid)
        item.user_properties.append((PROCESSOR_S, seconds))
    if seconds > BUDGET_S and not hasattr(item.parent, "over_budget"):
        item.parent.over_budget = True
        item.raise_cell_error(
            f"The chapter is over its budget: up to this cell its kernel has used {seconds:.1f} processor seconds, "
            f"and a chapter may use {BUDGET_S:.0f}. Make it cheaper, or store what is long in a data file."
        )
    return result


def pytest_runtest_logreport(report):
    name = report.nodeid.split("::")[0]
    if name.endswith(".ipynb"):
        _wall[name] = _wall.get(name, 0.0) + report.duration
        for key, seconds in report.user_properties:
            if key == PROCESSOR_S:
                _processor[name] = max(seconds, _processor.get(name, 0.0))


def pytest_terminal_summary(terminalreporter):
    if _wall:
        terminalreporter.section(
            f"seconds a chapter: of processor (at most {BUDGET_S:.0f}), and on the clock"
        )
        for name, wall in sorted(_wall.items(), key=lambda item: -_processor.get(item[0], 0.0)):
            seconds = _processor.get(name, 0.0)
            over = "  OVER BUDGET" if seconds > BUDGET_S else ""
            terminalreporter.write_line(f"{seconds:7.1f} {wall:7.1f}  {name}{over}")
        cache = getattr(terminalreporter.config, "cache", None)
        if cache is not None:  # `make bench` shows them
            known = cache.get(CHAPTER_SECONDS, {})
            cache.set(
                CHAPTER_SECONDS,
                known
                | {
                    name: [round(_processor.get(name, 0.0), 1), round(wall, 1)]
                    for name, wall in _wall.items()
                },
            )
