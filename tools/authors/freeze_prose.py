"""The book's own prose as a small corpus: letters, a few signs, and # for every formula, number, code and reference.

python tools/authors/freeze_prose.py     writes spinlib/data/book_prose.txt

It was run once, on the 22 chapters that stood then; chapters/transformer/language_models reads the file. To run it
again changes the corpus, and with it every number on that page. One paragraph is one line. The training part comes
first, then a line with a single "=", then the held-out part, which consists of whole chapters. Left out are tables,
formulas, code, the Chinese summaries, the boxes that open a chapter, and paragraphs that stand in two chapters.
"""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAIN = [
    "transformer/high_dimensions",
    "transformer/attention_blocks",
    "mapping/linear_regression_in_context",
    "mapping/transformer_to_spin_glass",
    "mapping/statistics_of_disorder",
    "mapping/message_passing",
    "mapping/which_amp",
    "results/learning_curve",
    "results/energy_landscape",
    "results/learning_phase_diagram",
    "results/correlated_data",
    "results/pure_spin_glass",
    "pspin/disorder_and_messages",
    "pspin/spherical_pspin",
    "pspin/replica_method",
    "pspin/cavity_method",
    "pspin/one_step_rsb",
    "pspin/cavity_one_rsb",
]
HELD_OUT = ["results/merged_or_separate", "results/other_architectures", "pspin/finite_samples"]
SIGNS = " .,;:'-?()#\n"
RULES = [
    (r"(?ms)^:::+\{admonition\} In this chapter.*?^:::+ *$", "\n"),  # the opening box
    (r"(?ms)^:::+\{admonition\} 本章小结.*?^:::+ *$", "\n"),  # the summary in Chinese
    (r"(?s)\$\$.*?\$\$( *\([\w-]+\))?", " # "),  # displayed formulas
    (r"\$[^$]+\$", " # "),
    (r"\{term\}`([^`<]+?)( *<[^`]*>)?`", r"\1"),  # a word of the glossary stays a word
    (r"\{[\w:-]+\}`[^`]*`", " # "),  # references
    (r"`[^`\n]+`", " # "),
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (
        r"(?m)^(:::+|```|\||#|\(|:label:|:class:|---).*$",
        "\n",
    ),  # directives, tables, headings, targets
    (r"(?m)^\s*([*-]|\d+\.) ", "\n\n"),  # items of a list are paragraphs
    (r"[*_]", ""),
    ("[’‘]", "'"),
    ("[–—]", "-"),
    ("!", "."),
    ('"', ""),
]


def paragraphs(chapter):
    """The paragraphs of a chapter, in the small alphabet."""
    cells = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text())["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for pattern, by in RULES:
        text = re.sub(pattern, by, text)
    for paragraph in re.split(r"\n\s*\n", text.lower()):
        paragraph = re.sub(r"[^a-z .,;:'?()-]+", "#", re.sub(r"\s+", " ", paragraph))
        paragraph = re.sub(r"#( ?[-.,:;]? ?#)+", "#", paragraph)  # one sign for a run of them
        paragraph = re.sub(r" +", " ", re.sub(r" ([.,;:?)])", r"\1", paragraph)).strip()
        if len(paragraph) >= 40 and paragraph.count("#") < len(paragraph) / 15:
            yield paragraph


def main():
    seen, parts = set(), []
    for chapters in (TRAIN, HELD_OUT):
        lines = [p for chapter in chapters for p in paragraphs(chapter)]
        lines = [p for p in lines if not (p in seen or seen.add(p))]
        parts.append("\n".join(lines) + "\n")
    (ROOT / "spinlib" / "data" / "book_prose.txt").write_text("=\n".join(parts))
    print(*(f"{len(part)} characters" for part in parts), sep=", ")


if __name__ == "__main__":
    main()
