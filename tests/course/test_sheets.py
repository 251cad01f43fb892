"""The problem sheets and their solutions: each problem is whole, and its target is what its solution prints."""

import json
import re

import pytest
import run_notebooks
import yaml
from kinds import ROOT, contents, kind

SHEETS = sorted((ROOT / "chapters" / "problems").glob("sheet_*.md"))
SOLUTIONS = sorted((ROOT / "course" / "solutions").glob("*.ipynb"))
EXAM = ROOT / "course" / "exam" / "exam.ipynb"
COURSE = (ROOT / "chapters" / "teaching.md").read_text(encoding="utf-8")
PROBLEM = re.compile(r"^\((prob-[a-z0-9-]+)\)=\n## ((\d)\. .+?) \(★{1,3}, (\d+) min\)$", re.M)
SIGNED = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")


def problems(text):
    """(label, heading, number, minutes, text) of every problem of a sheet."""
    found = list(PROBLEM.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [(*match.groups(), text[match.end() : end]) for match, end in zip(found, ends)]


def targets(text):
    """The numbers in bold of the paragraph that opens with Target, as they are written."""
    paragraph = re.search(r"^\*Target:\*(.*?)(?:\n\s*\n|\Z)", text, re.M | re.S)
    return re.findall(r"\*\*(-?[\d.]+)\*\*", paragraph[1]) if paragraph else []


def solution(sheet):
    return json.loads(
        (ROOT / "course" / "solutions" / f"{sheet.stem}.ipynb").read_text(encoding="utf-8")
    )


def parts(notebook):
    """Heading of level 2 -> what the cells under it print."""
    here, found = "", {"": ""}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            for here in re.findall(r"^## (.*)$", "".join(cell["source"]), re.M):
                assert here not in found, f"{here}: twice"
                found[here] = ""
        for output in cell.get("outputs", []):
            found[here] += "".join(output.get("text", "")) + "\n"
    return found


def prints(target, text):
    """Whether a printed number, with its sign, rounds to the target; with its decimals, or at most two more."""
    decimals = len(target.partition(".")[2])
    return any(
        abs(float(number) - float(target)) <= (0.5 + 1e-6) * 10.0**-decimals
        and decimals <= len(number.partition(".")[2]) <= decimals + 2
        for number in SIGNED.findall(text)
    )


def test_every_sheet_has_its_place_and_its_solution():
    """In the book, named by its part and by the course; the solutions are in neither book nor wheel."""
    pages = [name for _, names in contents() for name in names]
    assert SHEETS and [path.stem for path in SOLUTIONS] == [path.stem for path in SHEETS]
    for sheet in SHEETS:
        number = sheet.stem.removeprefix("sheet_")
        assert f"chapters/problems/{sheet.stem}" in pages and kind(sheet) == "sheet"
        for page in ("chapters/problems/index.md", f"chapters/part_{number}.md"):
            assert f"{{ref}}`sheet-{number}`" in (ROOT / page).read_text(encoding="utf-8"), page
        assert f"| {{ref}}`{sheet.stem.replace('_', '-')}` |" in COURSE
    assert not [name for name in pages if name.startswith("course")]
    assert re.search(r"^exclude_patterns:.*\bcourse\b", (ROOT / "_config.yml").read_text(), re.M)
    assert 'include = ["spinlib*"]' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_a_problem_has_stars_minutes_a_hint_and_a_target(sheet):
    text = sheet.read_text(encoding="utf-8")
    number = sheet.stem.removeprefix("sheet_")
    assert text.startswith(f"(sheet-{number})=\n# Problem sheet {number}: ")
    found = problems(text)
    assert len(found) == len(re.findall(r"^## ", text, re.M)) == (6 if number == "1" else 5)
    for k, (_, heading, written, minutes, body) in enumerate(found, 1):
        assert int(written) == k and 30 <= int(minutes) <= 180, heading
        assert len(re.findall(r"^:::\{dropdown\} Hint$", body, re.M)) == 1, heading
        assert targets(body), f"{heading}: *Target:* with a number in bold"
        assert all(2 <= len(re.sub(r"\D", "", t).lstrip("0")) <= 6 for t in targets(body)), heading
    assert "{code-cell}" not in text and "{solution" not in text, "text only"


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_a_solution_belongs_to_each_problem_and_prints_its_target(sheet):
    printed = parts(solution(sheet))
    found = problems(sheet.read_text(encoding="utf-8"))
    assert [heading for heading in printed if heading] == [heading for _, heading, *_ in found]
    missing = [
        (heading, t)
        for _, heading, _, _, body in found
        for t in targets(body)
        if not prints(t, printed[heading])
    ]
    assert not missing


def test_a_wrong_target_is_found():
    wrong = []
    for sheet in SHEETS:
        printed = parts(solution(sheet))
        for _, heading, _, _, body in problems(sheet.read_text(encoding="utf-8")):
            for target in targets(body):
                for changed in (
                    f"{1.03 * float(target):.{len(target.partition('.')[2])}f}",
                    f"{-float(target)}",
                ):
                    wrong.append(
                        float(changed) == float(target) or prints(changed, printed[heading])
                    )
    assert sum(wrong) <= 0.1 * len(wrong)
    assert (
        prints("-0.16", "s = -0.159")
        and not prints("0.16", "s = -0.159")
        and not prints("-0.160", "s = -0.16")
    )
    assert targets("*Target:* (a) $x=$ **0.50**,\n**-1.2**.\n\n**0.7**") == ["0.50", "-1.2"]


@pytest.mark.parametrize("path", [*SOLUTIONS, EXAM], ids=lambda path: path.stem)
def test_a_solution_is_executed_and_stripped_as_a_chapter_is(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"] == run_notebooks.METADATA and path in run_notebooks.all_chapters()
    assert path.stat().st_size < 500_000
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    name = path.relative_to(ROOT).with_suffix("")
    assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1)), (
        f"run it: make execute CHAPTER={name}"
    )
    assert re.search(
        r'setdefault\("OMP_NUM_THREADS", "1"\)(?s:.*)import numpy', "".join(code[0]["source"])
    )
    for cell in code:
        assert set(cell["metadata"]) <= {"mystnb", "tags"} and not set(
            cell["metadata"].get("tags", [])
        ) & {"nbval-skip", "nbval-ignore-output", "skip-execution", "raises-exception"}, cell["id"]
        assert max(map(len, "".join(cell["source"]).splitlines())) <= 88, cell["id"]
        for output in cell["outputs"]:
            assert output["output_type"] != "error" and output.get("name") != "stderr", cell["id"]
            if "image/png" in output.get("data", {}):
                assert (
                    len(cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")) > 30
                ), cell["id"]


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_a_solution_reads_without_the_built_book(path):
    """Plain Markdown: no roles or directives, and links to files that are there."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert text.startswith(f"# Solutions to problem sheet {path.stem.removeprefix('sheet_')}\n")
    assert not re.findall(r"\{[\w:]+\}`|^:::|^`{3,}\{|^\([a-z0-9-]+\)=$", text, re.M)
    links = re.findall(r"\]\(((?!http)[^)]+)\)", text)
    assert f"../../chapters/problems/{path.stem}.md" in links
    assert not [link for link in links if not (path.parent / link).is_file()]


def test_part_c_of_a_problem_is_no_sign_of_copyright():
    """The extension "replacements" of MyST makes one of (c); nothing in the book asks for it."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert "replacements" not in config["parse"]["myst_enable_extensions"]
