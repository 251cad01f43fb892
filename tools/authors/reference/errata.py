"""The errata: what matters first, then every correction by chapter, printed and corrected side by side."""

from __future__ import annotations

import re
from collections import Counter

from reference import data as d

BADGE = {"wrong": "danger", "incomplete": "warning", "misprint": "muted", "code differs": "info"}
CHAPTERS = {
    "2": "Large language models",
    "3": "Mean-field theory of spin glasses",
    "4": "The spin glass of linear attention",
    "5": "Results",
}
CHANGED = r"\textcolor{#B94700}{"  # the symbol that changes; \changed{ in thesis.yml


def errata(data):
    """The text of errata.md."""
    every = d.entries(data)
    count = Counter(entry["verdict"] for _, entry in every)
    rights = sum(entry["verdict"] == "right" for _, entry in every if isinstance(entry["id"], int))
    meaning = "\n".join(f"* {badge(v)} {data['verdicts'][v]} ({count[v]})." for v in d.CORRECTED)
    citations, places = d.cited(), d.labels(d.in_book().values())
    chapters = []
    for number, title in CHAPTERS.items():
        found = [
            e
            for s, e in every
            if s["title"].startswith(number) and e["verdict"] in d.CORRECTED[:-1]
        ]
        chapters.append(f"## Chapter {number} of the thesis: {title}")
        chapters += [card(entry, citations, places) for entry in sorted(found, key=d.order)]
    programs = sorted((e for _, e in every if e["verdict"] == "code differs"), key=d.order)
    return d.fill(
        d.template("errata.md"),
        rights=rights,
        meaning=meaning,
        chapters="\n\n".join(chapters),
        programs="\n\n".join(card(e, citations, places) for e in programs),
    )


def badge(verdict):
    return f"{{bdg-{BADGE[verdict]}}}`{verdict}`"


def first(data):
    """The five corrections that matter first, each with links to its entries."""
    names = {str(entry["id"]): d.name(entry) for _, entry in d.entries(data)}
    for number, one in enumerate(data["first"], 1):
        links = ", ".join(f"{{ref}}`{names[str(key)]} <erratum-{key}>`" for key in one["entries"])
        yield f"{number}. **{one['title']}** ({links}). {one['text']}"


def shown(text):
    """A `printed` or `correct` field: TeX becomes a displayed formula, words stay, \\changed{...} gets its colour."""
    words = text.removeprefix("words:")
    if words == text:
        return "$$ " + text.replace(r"\changed{", CHANGED) + " $$"
    out = ""  # in words the mark is bold, in formulas it is coloured
    for part, inside in ((p, k % 2) for k, p in enumerate(words.split("$"))):
        out += f"${part.replace(chr(92) + 'changed{', CHANGED)}$" if inside else bold(part)
    return out.strip() + "."


def bold(text):
    while r"\changed{" in text:
        before, _, rest = text.partition(r"\changed{")
        inside, _, after = rest.partition("}")
        text = f"{before}**{inside}**{after}"
    return text


def wide(text):
    """Whether a `printed` or `correct` field needs the whole width: a guess from its visible symbols."""
    quiet = r"\\(?:text|mathbf|mathrm|mathbb|tfrac|frac|changed|[bB]ig+[lr]|tilde|hat|left|right)|\\[;,! ]|[{}\s^_$]"
    symbols = re.sub(r"\\[a-zA-Z]+", "x", re.sub(quiet, "", text.replace(r"\qquad", "x" * 6)))
    return not text.startswith("words:") and len(symbols) > 22


def card(entry, citations, places):
    """One correction as Markdown."""
    left, right = (
        ("in the text", "in the program")
        if entry["verdict"] == "code differs"
        else ("printed", "corrected")
    )
    says = entry["says"].rstrip(".")
    columns = "1" if wide(entry["printed"]) or wide(entry["correct"]) else "1 1 2 2"
    return f"""::::::{{container}} erratum verdict-{entry["verdict"].replace(" ", "-")}
:name: erratum-{entry["id"]}

**{d.name(entry)}** {badge(entry["verdict"])} {says}.

:::::{{grid}} {columns}
:gutter: 2

::::{{grid-item}}
*{left}*

{shown(entry["printed"])}
::::

::::{{grid-item}}
*{right}*

{shown(entry["correct"])}
::::
:::::

:::{{dropdown}} Why{", and how much" if "effect" in entry else ""}
{because(entry, citations, places)}
:::
::::::"""


def because(entry, citations, places):
    """The reason, the size of the effect, and where it is shown, checked and computed."""
    out = [entry["why"]] + ([f"*Effect.* {entry['effect']}"] if "effect" in entry else [])
    links = []
    if entry.get("label") in places:
        document = places[entry["label"]].relative_to(d.ROOT).with_suffix("").as_posix()
        links.append(f"*Shown in* {{doc}}`/{document}`, {d.target(entry['label'])}.")
    if "digits" in entry:
        links.append(f"*Checked,* {d.checked(entry, places)}.")
    if functions := d.code(entry, citations):
        links.append(f"*Computed by* {functions}.")
    return "\n\n".join(out + ([" ".join(links)] if links else []))
