"""The equation index, both ways: from the thesis to this book, and from this book to the thesis."""

from __future__ import annotations

from reference import data as d


def equation_index(data):
    """The text of equation_index.md."""
    citations, places, book = d.cited(), d.labels(d.in_book().values()), d.in_book()
    every = d.entries(data)
    here = []
    for section in data["sections"]:
        if missing := [e["id"] for e in section["entries"] if e.get("label") not in places]:
            raise ValueError(
                f"thesis.yml: no page of the book has the labels of {', '.join(map(str, missing))}"
            )
        here.append(written(section, section["entries"], citations, places))
    return d.fill(
        d.template("equation_index.md"),
        count=len(every),
        written="\n\n".join(here),
        back="\n\n".join(back(every, places, book)),
    )


def link(entry):
    return (
        f" ({{ref}}`{entry['verdict']} <erratum-{entry['id']}>`)"
        if entry["verdict"] in d.CORRECTED
        else ""
    )


def paper(entry, words):
    """The number of an entry in the English paper, where it is known, in these words."""
    return words.format(entry["paper"]) if "paper" in entry else ""


def found_by_search(entry):
    """The name of an entry as an index term: the search drops pure numbers unless they are one."""
    return f"{{index}}`{d.name(entry)}`"


def number(label):
    """The same link as elsewhere, for a narrow column: equations by their number alone."""
    return d.target(label).removeprefix("eq. ")


def written(section, found, citations, places):
    """A section whose entries have a place: the table, and its checks in a fold."""
    rows = ["| Thesis | Here | What it states |", "| :--- | :--- | :--- |"]
    for entry in found:
        says = entry["says"].rstrip(".") + (
            f". *{entry['note'].rstrip('.')}.*" if "note" in entry else ""
        )
        functions = d.code(entry, citations)
        says += f"<br>{functions}" if functions else ""
        name = found_by_search(entry) + link(entry) + paper(entry, "<br>paper: {}")
        rows.append(f"| {name} | {number(entry['label'])} | {says} |")
    checks = ["| Thesis | How it is checked |", "| :--- | :--- |"]
    checks += [
        f"| {d.name(entry)} | {words} |" for entry in found if (words := d.checked(entry, places))
    ]
    fold = ":::{dropdown} How these are checked\n" + "\n".join(checks) + "\n:::"
    return f"### {section['title']}\n\n" + "\n".join(rows) + "\n\n" + fold


def back(every, places, book):
    """For each chapter of the book its labels, in their order on the page, and what they are in the thesis."""
    for chapter, path in book.items():
        rows = []
        for label in (name for name, file in places.items() if file == path):
            found = [d.name(entry) for _, entry in every if entry.get("label") == label]
            if found:
                rows.append(f"| {number(label)} | {', '.join(found)} |")
        if rows:
            yield f"### {{doc}}`/chapters/{chapter}`\n\n" + "\n".join(
                ["| Here | Thesis |", "| :--- | :--- |", *rows]
            )
