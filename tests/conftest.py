"""One line at the end of `make test`: how much of the thesis still waits for its chapter."""
import pathlib

import yaml


def pytest_terminal_summary(terminalreporter):
    if any("test_book_reference" in report.nodeid for report in terminalreporter.stats.get("passed", [])):
        data = yaml.safe_load((pathlib.Path(__file__).parents[1] / "chapters/reference/thesis.yml").read_text(encoding="utf-8"))
        entries = [entry for section in data["sections"] for entry in section["entries"]]
        waiting = sum("label" not in entry for entry in entries)
        terminalreporter.write_line(f"thesis.yml: {waiting} of {len(entries)} entries still wait for their chapter")
