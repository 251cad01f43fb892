"""One line at the end of `make test`: how much of the thesis still waits for its chapter."""
import importlib.util
import pathlib

TOOL = pathlib.Path(__file__).parents[1] / "tools" / "make_reference.py"


def pytest_terminal_summary(terminalreporter):
    if any("book/test_reference" in report.nodeid for report in terminalreporter.stats.get("passed", [])):
        spec = importlib.util.spec_from_file_location("make_reference", TOOL)
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        data = tool.read()
        terminalreporter.write_line(f"chapters/reference/thesis.yml: {len(tool.waiting(data))} of {len(tool.entries(data))} "
                                    "entries still wait for their chapter")
