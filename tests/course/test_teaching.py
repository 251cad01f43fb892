"""The page for those who teach: its plan names what is there, and what is made from it works."""

import json
import re
import sys
import zipfile

import boxes
import nbformat
import pytest
from kinds import ROOT, chapters

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "_ext")]
import book_teaching
import course_kit
import make_slides

PLAN = make_slides.weeks()
WEEKS = [pytest.param(week, lines, id=f"week {week}") for week, (_, lines) in PLAN.items()]
TEXT = make_slides.PAGE.read_text(encoding="utf-8")
FIELDS = ["Question", "Read", "On the blackboard", "Show", "In class", "Homework", "Slides"]
EXAM = ROOT / "course" / "exam" / "exam.ipynb"


def titled() -> dict[str, int]:
    """label -> minutes of every exercise and problem."""
    found = {}
    for name in chapters():
        text = "\n\n".join(boxes.source(name))
        rule = r"^`{3,}\{exercise-start\} .*, (\d+) min\)\n:label: (ex-[a-z0-9-]+)$"
        found |= {label: int(minutes) for minutes, label in re.findall(rule, text, re.M)}
    for sheet in (ROOT / "chapters" / "problems").glob("sheet_*.md"):
        rule = r"^\((prob-[a-z0-9-]+)\)=\n## .*, (\d+) min\)$"
        found |= {
            label: int(minutes) for label, minutes in re.findall(rule, sheet.read_text(), re.M)
        }
    return found


def figures_of(name: str) -> dict[str, str | None]:
    """label -> heading of the section that shows it, of every figure of a chapter."""
    cells = json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text())["cells"]
    section, found = None, {}
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            section = (re.findall(r"^## (.+)$", text, re.M) or [section])[-1]
            found |= dict.fromkeys(re.findall(r"^:name: (fig-\S+)$", text, re.M), section)
        if drawn := cell["metadata"].get("mystnb", {}).get("figure", {}).get("name"):
            found[drawn] = section
    return found


# --- the plan --------------------------------------------------------------------------------------------------------


def test_fourteen_weeks_go_through_the_book_in_its_order():
    assert list(PLAN) == list(range(1, 15))
    assert len(re.findall(r"^\| \d\. ", TEXT, re.M)) == 8
    order = {name: k for k, name in enumerate(chapters())}
    read = [name for _, lines in PLAN.values() for name, _ in make_slides.reading(lines["Read"])]
    assert [order[name] for name in read] == sorted(order[name] for name in read)
    labels = {label for name in chapters() for label in [boxes.titles()[name][0]]}
    assert labels <= set(re.findall(r"\{ref\}`(ch-[a-z0-9-]+)`", TEXT)), "a chapter without a week"


@pytest.mark.parametrize("week, lines", WEEKS)
def test_a_week_has_its_lines_and_tells_its_minutes(week, lines):
    assert [
        name for name in lines if name not in ("Live", "For the curious", "For other talks")
    ] == FIELDS
    assert lines["Question"].count("?") == 1 and f"week_{week}.html" in lines["Slides"]
    told = int(re.match(r"(\d+) min: ", lines["Read"])[1])
    minutes = 0
    for name, headings in make_slides.reading(lines["Read"]):
        there = boxes.sections(name)
        minutes += sum(boxes.measure(there[heading])[2] for heading in headings)
    assert told == pytest.approx(minutes, abs=3), f"{minutes} minutes"
    for field in ("In class", "Homework"):
        for label, minutes in re.findall(
            r"<((?:ex|prob)-[a-z0-9-]+)>` \((\d+) min\)", lines[field]
        ):
            assert titled()[label] == int(minutes), label
        named = re.findall(r"<((?:ex|prob)-[a-z0-9-]+)>`", lines[field])
        assert named or week == 14
        assert len(named) == len(re.findall(r">` \(\d+ min\)", lines[field])), (
            "an exercise without minutes"
        )


@pytest.mark.parametrize("week, lines", WEEKS)
def test_what_a_week_shows_and_derives_is_in_what_is_read(week, lines):
    """So it is in the deck; a live figure may come from elsewhere."""
    shown, given = {}, set()
    for name, headings in make_slides.reading(lines["Read"]):
        shown |= {label for label, section in figures_of(name).items() if section in headings} and {
            label: name for label, section in figures_of(name).items() if section in headings
        }
        there = boxes.sections(name)
        for heading in headings:
            given |= set(re.findall(r"\$\$ ?\((eq-[a-z0-9-]+)\)", there[heading]))
    asked = [label for kind, label in make_slides.LABELS.findall(lines["Show"]) if kind == "numref"]
    assert asked and not set(asked) - set(shown)
    derived = [
        label
        for kind, label in make_slides.LABELS.findall(lines["On the blackboard"])
        if kind == "eq"
    ]
    assert derived and not set(derived) - given


@pytest.mark.parametrize("week, lines", WEEKS)
def test_each_vote_of_a_deck_has_its_answer_in_the_plan(week, lines):
    count = 0
    for name, headings in make_slides.reading(lines["Read"]):
        first, *rest = re.split(r"^## (.+)$", "\n\n".join(boxes.source(name)), flags=re.M)
        there = {None: first, **dict(zip(rest[::2], rest[1::2]))}
        count += sum(there[heading].count("{admonition} Predict\n") for heading in headings)
    answers = re.search(r"Answers? to the (?:vote|\w+ votes): (.+)\.$", lines["Show"])[1]
    assert len(answers.split("; ")) == count


def test_a_plan_is_read_with_its_sections():
    [(name, headings)] = make_slides.reading(
        "10 min: {ref}`ch-replica-method`, *The trick* and {ref}`sec-rm-symmetric`."
    )
    assert name == "pspin/replica_method"
    assert headings == [None, "The trick", "All replicas alike: a guess"]
    [(_, whole)] = make_slides.reading("{ref}`ch-random-energy`.")
    assert whole == list(boxes.sections("pspin/random_energy"))
    text = "(week-1)=\n### Week 1: A title\n* **Question.** Why?\n* **Read.** {ref}`ch-a`.\n\n## Next\n* **Other.** no"
    assert make_slides.weeks(text) == {1: ("A title", {"Question": "Why?", "Read": "{ref}`ch-a`."})}


# --- slides ----------------------------------------------------------------------------------------------------------

BUILT = """<html><body><article><section id="all"><h1>1. The title#</h1>
<figure id="fig-a"><img alt="A [drawing]" src="../../_images/a.png"/><figcaption><p>
<span class="caption-number">Fig. 1.1 </span><span class="caption-text">The <a href="../b/c.html#term-x">word</a>,
<span class="math notranslate">\\(x&lt;1_a\\)</span>.</span><a class="headerlink" href="#fig-a">#</a></p></figcaption>
</figure><section id="one"><h2>1.1. Section one: $?#</h2><div class="predict admonition">
<p class="admonition-title">Predict</p><p>Which is <em>it</em>?</p>
<ul><li><p>this</p></li><li><p>that</p></li></ul></div>
<div class="math notranslate" id="equation-eq-a"><span class="eqno">(1.1)<a class="headerlink" href="#x">#</a></span>
\\[ a = b \\]</div><details><figure id="fig-folded"><img alt="x" src="x.png"/></figure></details></section>
<section id="two"><h2>1.2. Section two#</h2><figure id="fig-b">
<img alt="B" class="explore-b" src="../../_images/b.png"/><figcaption><p><span class="caption-number">Fig. 1.2 </span>
B_1.</p></figcaption></figure></section></section></article></body></html>"""


def test_the_built_page_becomes_slides_in_the_order_of_the_book(tmp_path):
    page = tmp_path / "chapters" / "x" / "y.html"
    page.parent.mkdir(parents=True)
    page.write_text(BUILT)
    book = make_slides.Book(tmp_path)
    parts = [
        (heading, node.get("id")) for heading, node in book.parts("x/y", [None, "Section one: $?"])
    ]
    assert parts == [
        (None, "fig-a"),
        ("Section one: $?", None),
        ("Section one: $?", "equation-eq-a"),
    ]
    nodes = [node for _, node in book.parts("x/y", [None, "Section one: $?", "Section two"])]
    text = make_slides.figure(nodes[0], "chapters/x/y")
    assert text == (
        "![A drawing](../_images/a.png)\n\n"
        "Fig. 1.1 The [word](../chapters/b/c.html#term-x), $x<1_a$."
    )
    assert make_slides.tidy(make_slides.plain(nodes[1], "chapters/x/y")).endswith(
        "Which is *it*?\n\n* this\n* that"
    )
    assert make_slides.formula(nodes[2], "chapters/x/y") == (
        "$$a = b$$\n\n[(1.1)](../chapters/x/y.html#equation-eq-a)"
    )
    assert make_slides.figure(nodes[3], "chapters/x/y").endswith(
        "Fig. 1.2 B\\_1.\n\n[Move it: the live figure](../chapters/x/y.html#fig-b)"
    )


@pytest.mark.slow
def test_a_deck_asks_no_network():
    """nbconvert's page has the scripts of the book and of the package sphinx-revealjs, and no others."""
    from nbconvert import SlidesExporter

    made = make_slides.notebook(
        ["# One\n\nWhy $a<b$?", "## Two\n\n![alt](../_images/a.png)\n\nA caption."], "Week 1"
    )
    nbformat.validate(made)
    page, _ = make_slides.exporter().from_notebook_node(made)
    assert (
        not re.findall(r'(?:src|href)="https?:', page)
        and "unpkg" not in page
        and "cdnjs" not in page
    )
    links = re.findall(r'(?<![\w-])(?:src|href)="([^"#]+)"', page)
    assert {"reveal/dist/reveal.js", "../_static/mathjax/tex-chtml.js", "../_images/a.png"} <= set(
        links
    )
    assert page.count("<section") == 4 and "<title>Week 1 slides</title>" in page
    for name in ("dist/reveal.js", "dist/reveal.css", "LICENSE"):
        assert (make_slides.reveal() / name).is_file()
    assert SlidesExporter


def test_the_page_links_a_pdf_only_where_there_is_one(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "teaching").mkdir()
    page = tmp_path / "chapters" / "teaching.html"
    link = 'its notebook, <a class="pdf" href="../teaching/week_1.pdf">its PDF</a>.'
    page.write_text(f"{link} {link.replace('_1', '_2')}")
    (tmp_path / "teaching" / "week_2.pdf").write_text("")
    for _ in range(2):
        make_slides.link_pdfs(tmp_path)
        assert 'href="../teaching/week_2.pdf"' in page.read_text()
        hidden = '<span class="pdf" hidden data-href="../teaching/week_1.pdf">, its PDF</span>.'
        assert page.read_text().startswith("its notebook" + hidden)
        assert book_teaching.dead(tmp_path) == []
    (tmp_path / "teaching" / "week_1.pdf").write_text("")
    make_slides.link_pdfs(tmp_path)
    assert page.read_text().startswith(link)
    page.write_text('<a href="gone.html?x=1#y">')
    assert book_teaching.dead(tmp_path) == ["teaching.html: gone.html"]


def test_all_figures_are_packed_with_their_captions(tmp_path, monkeypatch):
    page = tmp_path / "chapters" / "x" / "y.html"
    page.parent.mkdir(parents=True)
    page.write_text(BUILT)
    for folder in ("_images", "teaching"):
        (tmp_path / folder).mkdir()
    for name in "ab":
        (tmp_path / "_images" / f"{name}.png").write_bytes(b"picture")
    monkeypatch.setattr(boxes, "chapters", lambda: ["x/y"])
    assert book_teaching.figures(make_slides.Book(tmp_path), "A book") == 2
    with zipfile.ZipFile(tmp_path / "teaching" / "figures.zip") as pack:
        assert pack.namelist() == [
            "figures/1-1_fig-a.png",
            "figures/1-2_fig-b.png",
            "figures/captions.txt",
        ]
        said = pack.read("figures/captions.txt").decode()
    assert (
        "1-1_fig-a.png\nFig. 1.1 The word, \\(x<1_a\\).\nWhat it shows" in said
        and "CC BY 4.0" in said
        and said.startswith('Figures and captions of "A book", ')
    )


# --- notebooks with holes --------------------------------------------------------------------------------------------

SHEETS = sorted((ROOT / "chapters" / "problems").glob("sheet_*.md"))


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_a_student_notebook_has_holes_and_targets_and_no_solution(sheet, capsys):
    path = ROOT / "course" / "solutions" / f"{sheet.stem}.ipynb"
    made, whole = course_kit.student(sheet, path), nbformat.read(path, as_version=4)
    nbformat.validate(made)
    text = sheet.read_text(encoding="utf-8")
    problems = course_kit.PROBLEM.findall(text)
    says = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert re.findall(r"^## (.+)$", says, re.M) == [
        heading.split(" (★")[0] for _, heading in problems
    ]
    for address in ("", "https://example.org/b"):
        both = [course_kit.student(sheet, path, address), course_kit.solved(path, address)]
        told = ["\n".join(cell.source for cell in one.cells) for one in both]
        assert not [text for text in told if "](.." in text], "dead in a download"
        assert all("in the built book" in text for text in told) != bool(address)
        places = [f"{address}/chapters/problems/{sheet.stem}.html#{label}" for label, _ in problems]
        assert all((f"[The problem]({place})" in told[0]) is bool(address) for place in places)
    solution = [cell for cell in whole.cells if "solution" in cell.metadata.get("tags", [])]
    assert len(solution) == len(whole.cells) - 2, "all but the title and the imports"
    code = "\n".join(cell.source for cell in made.cells if cell.cell_type == "code")
    for cell in solution:
        body = [
            line
            for line in cell.source.splitlines()
            if re.match(r"\s*(print|return|for|while)\b", line)
        ]
        if cell.cell_type == "code":
            assert not [line for line in body if len(line) > 30 and line in code]
        else:
            said = [line for line in cell.source.splitlines() if len(line) > 60]
            assert not [line for line in said if line in says]
    known = {}
    for (
        cell
    ) in made.cells:  # as it is handed out it runs: the targets are listed, nothing is compared
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None
            exec(compile(cell.source, cell.id, "exec"), known)
    bodies = course_kit.PROBLEM.split(text)[3::3]
    listed = sum(len(course_kit.targets(body)) for body in bodies)
    assert len(capsys.readouterr().out.splitlines()) == listed >= 5 * len(problems) / 2


def test_a_number_is_compared_with_its_target(capsys):
    known = {}
    exec(course_kit.CHECK, known)
    known["check"]([("(a) e=", "0.354", 0.0005, 0.35449), ("(b)", "-1.2", 0.05, None)])
    assert (
        capsys.readouterr().out.split() == "right (a) e= 0.354, yours is 0.35449 (b) -1.2".split()
    )
    with pytest.raises(AssertionError, match="not within 0.0005"):
        known["check"]([("(a) e=", "0.354", 0.0005, 0.3546)])


def test_a_hole_keeps_the_heads_of_functions():
    source = (
        'x = 3\nfrom math import pi\n\ndef f(a,\n      b=1):\n    """Add."""\n    return a + b\n'
    )
    source += "\ndef g(a): return 2 * a\n"
    made = course_kit.hole(source)
    assert "x = 3" not in made and "return" not in made and "from math import pi" in made
    known = {}
    exec(made, known)
    for name in "fg":
        with pytest.raises(NotImplementedError):
            known[name](1)
    assert known["f"].__doc__ == "Add." and made.endswith("# your code")


# --- the exam --------------------------------------------------------------------------------------------------------


def exam_cells():
    return nbformat.read(EXAM, as_version=4).cells


def test_the_points_of_the_steps_are_those_of_the_problems():
    headings = [c.source for c in exam_cells() if c.source.startswith("## ")]
    schemes = [c.source for c in exam_cells() if c.source.startswith("**(a)**")]
    points = [int(re.match(r"## \d\. .+ \((\d+) points\)\n", text)[1]) for text in headings]
    assert len(points) == 6 and sum(points) == 100
    for told, text in zip(points, schemes, strict=True):
        assert sum(map(int, re.findall(r"\*\*\[(\d+)\]\*\*", text))) == told
        assert re.findall(r"^\*\*\(([a-z])\)\*\*", text, re.M) == list("abcd")


def test_the_numbers_of_the_scheme_are_printed_by_its_cells():
    cells = exam_cells()
    for scheme, code in zip(cells, cells[1:]):
        if not scheme.source.startswith("**(a)**"):
            continue
        printed = [
            float(x) for output in code.outputs for x in re.findall(r"-?\d+\.\d+", output.text)
        ]
        told = re.findall(r"(?<![\d.])\d\.\d{4}(?!\d)", scheme.source)
        assert told or "frac1{18}" in scheme.source
        for number in told:
            near = [x for x in printed if abs(abs(x) - float(number)) < 0.51e-4]
            assert near, number


def test_the_questions_have_no_answers_and_the_scheme_has():
    questions, scheme = (course_kit.exam(EXAM, answers) for answers in (False, True))
    assert (
        "[3]" not in questions
        and "<strong>[2]</strong>" not in questions
        and "pre>" not in questions
    )
    assert "<strong>[2]</strong>" in scheme and "(c) ground state 1/6 1/18" in scheme
    for page in (questions, scheme):
        assert page.count("<h2") == 6 and 'name="robots" content="noindex"' in page
        assert "def " not in page and not re.findall(r'(?:src|href)="https?:', page)
    assert len(re.findall(r"exam", TEXT)) and "exam" not in (ROOT / "_toc.yml").read_text()
