"""Test set-up: spinlib in the notebook kernels, one BLAS thread, one worker a notebook, a time budget a chapter."""
import os
import pathlib

ROOT = pathlib.Path(__file__).parent
os.environ["PYTHONPATH"] = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
# A kernel raises where an iteration does not converge, so no page can show such a number unless its cell says so.
os.environ["PYTHONWARNINGS"] = "error::RuntimeWarning"
os.environ.pop("MPLBACKEND", None)  # kernels choose their own backend: with agg no notebook would show a figure
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


def pytest_configure(config):
    option = config.option
    if not getattr(option, "nbval_sanitize_with", None):
        option.nbval_sanitize_with = str(ROOT / "tests" / "nbval_sanitize.cfg")
    if getattr(option, "dist", "no") == "load":  # xdist: the cells of one notebook must stay together
        option.dist = "loadscope"


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):  # a figure stored with myst_nb.glue is PNG bytes too
        collector.skip_compare += ("application/papermill.record/image/png",)


BUDGET_S = float(os.environ.get("NB_BUDGET_S", "60"))
_spent: dict[str, float] = {}


def pytest_runtest_logreport(report):
    name = report.nodeid.split("::")[0]
    if name.endswith(".ipynb"):
        _spent[name] = _spent.get(name, 0.0) + report.duration


def pytest_terminal_summary(terminalreporter):
    if _spent:
        terminalreporter.section(f"seconds a chapter (budget {BUDGET_S:.0f})")
        for name, seconds in sorted(_spent.items(), key=lambda item: -item[1]):
            terminalreporter.write_line(f"{seconds:7.1f}  {name}" + ("  OVER BUDGET" if seconds > BUDGET_S else ""))


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 0 and any(seconds > BUDGET_S for seconds in _spent.values()):
        session.exitstatus = 1
