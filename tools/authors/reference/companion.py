"""The front page of the companion: how to read it, the slips that matter, the figures of the English paper."""

from reference import data as d
from reference.errata import first


def companion(data):
    """The text of chapters/source/index.md."""
    return d.fill(
        d.template("companion.md"), first="\n".join(first(data)), figures="\n".join(figures(data))
    )


def figures(data):
    """The rows of a table: number in the paper, number in the thesis, where the book has it, what it shows."""
    known = [
        entry for _, entry in d.entries(data) if str(entry.get("paper", "")).startswith("Fig.")
    ]
    for entry in sorted(known, key=lambda e: (len(e["paper"]), e["paper"])):
        link = f" ({{ref}}`{entry['verdict']} <erratum-{entry['id']}>`)" if "why" in entry else ""
        yield f"| {entry['paper']} | {d.name(entry)}{link} | {d.target(entry['label'])} | {entry['says'].rstrip('.')} |"
