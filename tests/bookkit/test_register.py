"""The register, and the pages built from it and from the ledgers."""

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
import yaml

from bookkit import findings, register, scoreboard
from bookkit.chapters import BOOK, ROOT, every_chapter, read_record
from bookkit.findings import CERTIFICATES as FOLDER
from bookkit.findings import GROUPS, in_one_line, load_findings
from bookkit.parameters import ChapterError
from bookkit.register import RegisterError, every_entry, load_register
from bookkit.scoreboard import load_rows
from tests.counterexamples.programs import hypotheses
from tests.small_book import PATIENCE

# Of each group of findings but two: the verdicts that a result of it has.
GRADES = {
    "false statement": ("false",),
    "condition": ("true with a condition",),
    "misprint": ("misprint",),
    "proof": ("proof gap", "true", "true with a condition"),
    "constant": ("constant loose", "true"),
    "restored form": ("restored form fails",),
}
ENTRIES = every_entry()
ROWS = load_rows()
EVERY = [r for section in ROWS.values() for row in section for r in (row, *row.parts)]
CLAIMS = [
    claim
    for chapter in every_chapter()
    for claim in (read_record(chapter.notebook) or {"claims": []})["claims"]
]
PAPERS = [p for p in ROWS if not p.own]
CERTIFICATES = sorted(FOLDER.glob("*.py"))


def test_there_are_five_papers_and_each_says_what_could_be_read():
    assert [p.number for p in PAPERS] == ["P1", "P2", "P3", "P4", "P5"]
    assert all(len(p.read) > 20 for p in ROWS)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda e: e.id)
def test_a_row_says_a_proposition(entry):
    assert len(entry.claim) >= 20, "a topic, not a proposition"
    assert not re.search(r"\de\d|[A-Z][a-z]+ =|[_^]", entry.ref), "a formula in ASCII"
    assert entry.claim.count("$") % 2 == 0
    assert entry.claim.rstrip()[-1] in ".$)", "a sentence ends"
    assert (BOOK / f"{entry.chapter}.py").exists()


def test_a_chapter_owes_at_most_three_results():
    judged = [row for section in ROWS.values() for row in section if row.stated != "not judged"]
    owed = Counter(row.entry.chapter for row in judged)
    assert {chapter: count for chapter, count in owed.items() if count > 3} == {}


def test_every_claim_names_a_row_or_a_part_and_every_part_has_a_verdict_or_is_open():
    assert {c["id"] for c in CLAIMS} <= set(ENTRIES)
    named = {c["id"] for c in CLAIMS}
    for row in EVERY:
        alone = scoreboard.Row(row.entry, row.claims)
        assert (row.entry.id in named) == bool(row.claims)
        if not row.claims:
            assert (alone.stated, alone.now) == ("not judged", "open")


def test_as_printed_is_said_only_of_what_is_printed():
    said = [c for c in CLAIMS if "as printed" in c["text"].lower()]
    assert [c["id"] for c in said if ENTRIES[c["id"]].source != "printed"] == []
    for finding in load_findings():
        if "as printed" in (finding.title + finding.body).lower():
            assert ENTRIES[finding.id].source == "printed", finding.id


def alone(row):
    """The verdict on a row by its own claims."""
    return scoreboard.Row(row.entry, row.claims).stated


def test_what_is_called_false_has_a_certificate_and_none_is_of_what_is_not():
    false = {r.entry.id for r in EVERY if alone(r) == "false"}
    failing = ("false", "restored form fails", "misprint", "constant loose")
    failed = {r.entry.id for r in EVERY if alone(r) in failing}
    certified = {path.stem for path in CERTIFICATES}
    slips = {ENTRIES[id].slip for id in certified} - {""}
    served = {id for id in false if ENTRIES[id].slip in slips}  # its program tests these too
    assert false <= certified | served
    assert certified <= failed


def grades(id):
    """The verdicts as stated on an id: its own, and those of its parts."""
    row = next(r for r in EVERY if r.entry.id == id)
    return {alone(row), *map(alone, row.parts)}


@pytest.mark.parametrize("finding", load_findings(), ids=lambda f: f.label)
def test_a_finding_stands_among_its_like(finding):
    wanted = GRADES.get(finding.group)
    if wanted and ENTRIES[finding.id].source != "ours":
        assert grades(finding.id) & set(wanted)
    if finding.group == "false statement":
        for id in finding.also:
            assert grades(id) != {"not judged"}, f"{id} is open, and its certificate stands here"


def test_a_condition_and_a_right_reading_stand_where_the_verdict_says_so():
    for row in EVERY:
        assert bool(row.entry.condition) == (alone(row) == "true with a condition"), row.entry.id
        assert bool(row.entry.reads) == (alone(row) == "misprint"), row.entry.id


def test_one_slip_has_one_verdict():
    found = {}
    for row in EVERY:
        if row.entry.slip:
            found.setdefault(row.entry.slip, {}).setdefault(alone(row), []).append(row.entry.id)
    assert {slip: by for slip, by in found.items() if len(by) > 1} == {}


def test_both_bounds_of_the_chain_are_judged_as_upper_bounds_on_a_probability():
    """Theorems 7 and 8: an exponent that what they rest on does not give is a gap in both."""
    found = {row.entry.id: row for row in EVERY}
    for id in ("sharper.thm7", "sharper.thm8"):
        assert "at most" in ENTRIES[id].claim
        assert (found[id].stated, found[id].now) == ("proof gap", "repaired")


def test_what_implies_a_failure_is_not_true_and_what_a_truth_implies_is_judged():
    verdict = {row.entry.id: row for row in EVERY}
    for row in EVERY:
        for id in row.entry.implies:
            given, result = row.stated, verdict[id].stated
            told = f"{row.entry.id} ({given}) implies {id} ({result})"
            if result in ("false", "restored form fails"):
                assert given not in ("true", "not contradicted", "constant loose"), told
            if given == "true":
                assert result not in ("not judged", "not contradicted"), told


# what the printed proofs of Appendix A of the third paper name, read in its text
PRINTED = """
    lem2_2.a3: lem2_2.a2
    lem2_2.a5: lem2_2.a3 lem2_2.a4
    lemA6.a6:
    lemA6.a7: lemA6.a6
    lem4_3: lemA6.a6
    thm4_2: lem4_3
    cor4_4: thm4_2 lem4_5 lemA6.a7 lemA8
    lem4_5: lemA10
    lemA11.a11: cor4_4
    lemA11.a12: cor4_4 lemA8
    lemA13.a13: lemA6.a7
    lemA13.a14: lemA6.a7
    lemA13.a15: lemA9 lemA13.a13 lemA13.a14
    lemA13.a16:
    thm4_6.a17: lemA13.a15 lemA13.a16 lem4_5 lemA8 lemA10
"""


def test_the_third_papers_results_rest_on_those_that_their_printed_proofs_name():
    for line in PRINTED.strip().splitlines():
        result, _, used = line.strip().partition(":")
        found = ENTRIES[f"variables.{result}"].rests_on
        assert set(found) == {f"variables.{id}" for id in used.split()}, result


def test_what_stands_on_a_failed_result_says_how():
    verdict = {row.entry.id: row.stated for row in EVERY}
    for row in EVERY:
        failed = [
            id
            for id in row.entry.rests_on
            if verdict[id] in ("false", "restored form fails", "misprint")
        ]
        if failed and row.stated in ("true", "true with a condition", "not contradicted"):
            assert row.entry.known, f"{row.entry.id} rests on {failed}: known says how it stands"


def test_a_place_of_a_proof_is_one_of_the_page():
    """The heading, the bold words or the title of the box that the proof begins with."""
    titled = r"(?:#+|:::+ ?{dropdown}|`{3,}{\S+}) .*"
    bold = r"\*\*(?:[^*\n]*|[^*\n]*\*\* )"  # among the bold words, or right behind them
    for id, entry in ENTRIES.items():
        if entry.proof:
            text = (BOOK / f"{entry.chapter}.py").read_text(encoding="utf-8")
            begins = rf"^# [*\d. ]*(?:{titled}|{bold}){re.escape(entry.proof)}"
            places = len(re.findall(begins, text, re.MULTILINE))
            assert places == 1, f"{id}: {places} places begin with {entry.proof!r}"


def test_what_is_said_to_be_proved_names_the_place_of_its_proof():
    """A definition or an equation too: by the words of the sentence that shows it."""
    proved = {c["id"] for c in CLAIMS if c["evidence"] == "proved"}
    assert proved
    assert sorted(id for id in proved if not ENTRIES[id].proof) == []


def test_a_false_statement_has_a_finding_and_a_finding_of_one_is_false():
    found = [f for f in load_findings() if f.group == "false statement"]
    certified = {path.stem for path in CERTIFICATES}
    whole = set(certified) | {id.rpartition(".")[0] for id in certified}
    assert {f.id for f in found} <= whole, "what else a finding tells of is served by its program"
    told = {id for f in load_findings() for id in f.about}
    untold = {id for id in certified if id not in told and id.rpartition(".")[0] not in told}
    assert not untold


def test_every_finding_has_one_line_on_the_page_of_all():
    found = load_findings()
    page = in_one_line(found)
    assert all(page.count(f"](#{f.label})\n") == 1 for f in found)


def test_findings_are_complete():
    found = load_findings()
    assert len({f.label for f in found}) == len({f.title for f in found}) == len(found)
    for finding in found:
        assert finding.id in ENTRIES
        assert len(finding.title) <= 75
        assert finding.group in GROUPS
        for word in ("Statement", "Counterexample", "Why", "Repair", "What survives"):
            of_no_statement = finding.group in ("constant", "code") and word == "Counterexample"
            words = (word, "Where it fails") if of_no_statement else (word,)
            assert any(f"**{w}.**" in finding.body for w in words), f"{finding.id} lacks {word}"
        assert "{glue" not in finding.body


# A letter but "a", a function, a Greek letter by name, a comparison, an index, a power, a quotient.
ASCII_FORMULA = re.compile(
    r"(?<![\w.'-])(?:[b-zB-Z]|floor|ceil|sqrt|log|exp|[Aa]lpha|[Bb]eta|[Gg]amma"
    r"|[Dd]elta|[Ee]psilon|[Ll]ambda|[Ss]igma|[Tt]heta)(?![\w'-]|\.\w)|[<>=^_]|\w/\d|\w\("
)


def ascii_formula(title):
    """What is left of a formula in a title outside TeX; None if nothing is."""
    found = ASCII_FORMULA.search(re.sub(r"\$[^$]+\$", "", title))
    return found and found[0]


@pytest.mark.parametrize("finding", load_findings(), ids=lambda f: f.label)
def test_a_title_has_its_formulas_in_tex(finding):
    assert ascii_formula(finding.title) is None


@pytest.mark.parametrize(
    "title",
    [
        "At most floor(n/2) + 1 of the flips",
        "A trapezoid serves d equal bits",
        "Only if W_QK may grow",
        "Sums are counted by k^2",
        "It fails where Delta > 0",
        "The factor gamma stands alone",
        "Sensitivity 1/2 at every input",
        "The norm is sqrt 2",
        "The degree over GF(2)",
        "True for $d$ at most T",
    ],
)
def test_a_formula_in_ascii_is_seen_in_a_title(title):
    assert ascii_formula(title)


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda p: p.stem)
def test_a_certificate_fails_the_statement_with_the_standard_library_and_mpmath_alone(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 100
    imported = set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE))
    assert imported - {"mpmath"} <= set(sys.stdlib_module_names)
    source = ENTRIES[path.stem].source
    assert source in text.split("\n\n")[0], f"the first lines say that it is {source}"
    assert "version" in text.split("\n")[0], "the first line names the version that is judged"
    done = subprocess.run(
        [sys.executable, "-I", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    held = hypotheses(done.stdout)
    assert held, "a hypothesis is printed as 'hypothesis  WORDS: holds'"
    assert all(held.values())
    assert "the statement fails" in done.stdout


def test_the_totals_are_those_of_the_notebooks():
    """Counted again from the JSON, by other code than the page's."""
    counts = {}
    by_id = {}
    for path in BOOK.glob("*/*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            for output in cell.get("outputs", []):
                for name, data in output.get("data", {}).items():
                    if name.endswith("claims+json"):
                        for c in data["claims"]:
                            by_id.setdefault(c["id"], []).append(c)
    for entry in ENTRIES.values():
        mine = by_id.get(entry.id, [])
        counted = [c for c in mine if c["about"] not in ("ours", "code")]
        if entry.source == "ours" or (entry.parts and not counted):
            continue
        wide = entry.kind in ("remark", "caption", "claim", "comparison")
        about = {"statement", "experiment"} | ({"remark"} if wide else set())
        if entry.kind == "remark":
            about = {"statement", "remark"}
        own = [c for c in mine if c["about"] in about]
        verdicts = {c["verdict"] for c in own}
        firm = {"proved", "exhaustive", "attained"}
        held = [c for c in own if c["verdict"] == "holds"]
        firmly = any(c["evidence"] in firm for c in held)
        beside = {c["about"] for c in mine if c["verdict"] == "refuted"}
        if "refuted" in verdicts:
            theirs = entry.source in ("printed", "quoted")
            word = "false" if theirs else "restored form fails"
        elif {"reproduced", "not reproduced"} <= verdicts:
            word = "partly"
        elif verdicts & {"reproduced", "not reproduced"}:
            word = (verdicts & {"reproduced", "not reproduced"}).pop()
        elif beside & {"misprint", "condition"} and not firmly:
            word = "not contradicted" if held else "not judged"
        elif "misprint" in beside:
            word = "misprint"
        elif "condition" in beside:
            word = "true with a condition"
        elif "proof" in beside:
            word = "proof gap"
        elif "constant" in beside:
            word = "constant loose"
        elif held:
            word = "true" if firmly else "not contradicted"
        else:
            word = "not judged"
        counts[word] = counts.get(word, 0) + 1
    head, _, *lines = scoreboard.totals(ROWS).split("\n\n")[0].splitlines()
    names = [w.strip() for w in head.strip("|").split("|")][2:]
    last = [int(n) for n in re.findall(r"\| (\d+)", lines[-1])]
    assert dict(zip(names, last[1:], strict=True)) == counts
    assert last[0] == sum(counts.values())


def test_totals_count_the_papers_alone():
    assert "Beyond" not in scoreboard.totals(ROWS)
    assert "Beyond" in scoreboard.totals(ROWS, own=True)


def test_the_scoreboard_hides_no_row():
    whole = scoreboard.scoreboard(ROWS)
    for paper, section in ROWS.items():
        own = scoreboard.scoreboard(ROWS, paper.key)
        rows = [r for row in section for r in (row, *row.parts)]
        assert own.count("\n| ") == len(rows) + 1
        assert (f"## {paper.number}" in own, f"(s-{paper.key})=" in whole) == (False, True)
        assert (f"*{paper.name}.*" in own) != paper.own, (
            "the page has a heading for our own results"
        )
        for row in rows:
            place = "r-" + row.entry.id.replace(".", "-").replace("_", "-").lower()
            assert f"{{#{place} " in own
            assert f"{{#{place} " in whole


def test_a_row_of_a_chapter_that_was_not_executed_names_it_without_a_link():
    row = next(r for r in EVERY if r.entry.id == "sensitive.lem8")
    paper = next(p for p in PAPERS if p.key == "sensitive")
    own = scoreboard.scoreboard({paper: [row]}, paper.key)
    assert "{prf:ref}" in own
    assert "{numref}" in own
    bare = scoreboard.scoreboard({paper: [replace(row, written=False)]}, paper.key)
    assert f"| `{row.entry.chapter}` |" in bare
    assert "{prf:ref}" not in bare
    assert "{numref}" not in bare


def test_what_came_later_stands_with_its_row():
    since = scoreboard.load_since()
    assert since
    assert since.keys() <= {row.entry.id for row in EVERY}
    whole, found = scoreboard.scoreboard(ROWS), scoreboard.records(ROWS, str)
    assert {r["id"]: r["since"] for r in found if r["since"]} == since
    assert all(f"**Since then:** {text} |" in whole for text in since.values())


def test_every_section_of_a_paper_has_a_page_of_the_scoreboard():
    pages = {f"book/scoreboard/{path.stem}" for path in (BOOK / "scoreboard").glob("*.md")}
    for paper in ROWS:
        page = scoreboard.board(pages, paper.key)
        assert page == scoreboard.BOARD + ("" if paper.own else f"/{paper.key}")
        assert f"<!-- scoreboard {paper.key} -->" in (ROOT / f"{page}.md").read_text("utf-8")


@pytest.mark.parametrize("row", [r for r in EVERY if r.claims], ids=lambda r: r.entry.id)
def test_evidence_is_in_words(row):
    known, compared = row.evidence.split(". ", 1)
    assert re.match(r"\*\*(Proved|Exhaustive|Attained|Searched|Sampled|Trained)\*\*", known)
    assert re.search(r": .+, where .+ is required\.( \d+ more checks?\.)?$", compared)
    assert not re.search(r"[≤≥]|\d[eE][-+]?\d|control", re.sub(r"\$[^$]*\$", "", compared))
    more = re.search(r" (\d+) more checks?\.$", compared)
    assert int(more[1] if more else 0) == len(row.claims) - 1


def test_a_chapter_is_linked_in_one_line():
    for chapter in every_chapter():
        assert re.fullmatch(r"\{numref\}`\{number\} <ch-[\w-]+>`", scoreboard.chapter_link(chapter))
        assert "```{verdict}" in chapter.text


def test_each_total_leads_to_the_statements_that_it_counts():
    text = scoreboard.totals(ROWS, address=lambda part: f"to/{part}")
    links = re.findall(r"\[(\d+)\]\(to/(\w+)\?(stated|now)=([\w+]+)\)\{\.external\}", text)
    plain = scoreboard.totals(ROWS)
    assert len(links) == sum(line.count("|") - 3 for line in text.splitlines() if "(to/" in line)
    assert re.sub(r"\[(\d+)\]\([^)]*\)\{\.external\}", r"\1", text) == plain
    found = scoreboard.records(ROWS, str)
    for number, part, column, verdict in links:
        asked = {"stated": "as stated", "now": "now"}[column], verdict.replace("+", " ")
        counted = [r for r in found if r["counted"] and r["id"].startswith(f"{part}.")]
        assert sum(r[asked[0]] == asked[1] for r in counted) == int(number)


def test_the_records_have_every_row_with_its_addresses():
    found = scoreboard.records(ROWS, lambda name: f"to/{name}")
    assert [r["id"] for r in found] == [row.entry.id for row in EVERY]
    one = next(r for r in found if r["id"] == "sharper.thm5")
    assert (one["paper"], one["result"]) == ("P1", "Theorem 5 / 13")
    assert (one["as stated"], one["now"]) == ("false", "repaired")
    assert (one["chapter"], one["row"]) == ("to/sharper/hessian_trace", "to/sharper#r-sharper-thm5")
    needed = [r for r in found if r["now"] == "repaired" or r["as stated"] == "misprint"]
    assert needed
    assert [r["id"] for r in needed if r["counted"] and not r["repair"]] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "guessed"}, "source 'guessed' is none of"),
        ({"kind": "idea"}, "kind 'idea' is none of"),
        ({"source": "ours"}, "only the book's own results"),
        ({"id": "other.x"}, "an id begins with sharper."),
        ({"id": "sharper.a b"}, "sharper.a b: an id begins with sharper."),
        ({"note": "x"}, "unknown field note"),
        ({"rests_on": ["sharper.gone"]}, "rests_on sharper.gone, which is no row"),
        ({"implies": ["sharper.x"]}, "implies goes in a circle: sharper.x -> sharper.x"),
        ({"implies": "sharper.x"}, "implies is a list of ids"),
        ({"claim": None}, "it lacks claim"),
    ],
)
def test_a_bad_row_is_named(tmp_path, change, message):
    row = {"id": "sharper.x", "ref": "Lemma 1", "kind": "lemma", "chapter": "sharper/norms"}
    row |= {"source": "printed", "claim": "Something is at most one."}
    row |= change
    row = {k: v for k, v in row.items() if v is not None}
    path = tmp_path / "register.yml"
    path.write_text(
        json.dumps(
            {"sharper": {"paper": {"number": "P1", "name": "x", "read": "y"}, "rows": [row]}}
        )
    )
    with pytest.raises(RegisterError, match=re.escape(message)):
        load_register(path)


def test_an_id_that_stands_twice_is_named(tmp_path):
    text = register.REGISTER.read_text(encoding="utf-8")
    row = re.search(r"    - id: sharper\.rem4\n(?:      .*\n)+?(?=    - id)", text)[0]
    path = tmp_path / "register.yml"
    path.write_text(text.replace(row, row + row, 1))
    with pytest.raises(RegisterError, match=r"sharper\.rem4 stands twice"):
        load_register(path)


def test_no_field_of_a_row_stands_twice():
    """YAML keeps the last of two without a word, and a verdict would be told by the wrong one."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    nodes = [yaml.compose(register.REGISTER.read_text(encoding="utf-8"), Loader=loader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            names = Counter(key.value for key, _ in node.value)
            line = node.start_mark.line + 1
            assert max(names.values()) == 1, f"line {line}: {names.most_common(1)[0][0]} twice"
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value


def test_numbers_stand_in_formulas_too():
    text = "$x = {glue:text}`a:.2f}`$ and {glue:text}`b`"
    with pytest.raises(ValueError, match="wants the number 'c'"):
        findings.filled("{glue:text}`c`", {}, "here")
    filled = findings.filled(text.replace("}`$", "`$"), {"a": "0.255", "b": "3e+10"}, "here")
    assert filled == "$x = 0.26$ and 3 × 10¹⁰"


def test_a_large_float_is_grouped_as_a_whole_number_is():
    written = map(findings.written_out, ("640000.0", "1800000.0", "12.0", "7.9e+06"))
    assert list(written) == ["640,000", "1,800,000", "12", "7.9 × 10⁶"]


def test_every_page_asks_for_what_exists():
    listed = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    for paper in PAPERS:
        page = BOOK / "findings" / f"{paper.key}.md"
        assert f"<!-- findings {paper.key} -->" in page.read_text(encoding="utf-8")
        assert f"book/findings/{paper.key}\n" in listed


def test_a_result_of_our_own_is_judged_by_what_we_claim_of_it():
    own = [row for rows in ROWS.values() for row in rows if row.entry.source == "ours"]
    assert own
    for row in own:
        assert row.stated in ("true", "not contradicted"), row.entry.id
        assert row.now in ("holds", "not contradicted"), row.entry.id


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"chapter": "cube/other", "claims": []}, r"holds the ledger of cube/other"),
        (
            {"claims": [{"id": "cube.gone"}]},
            r"a claim on cube\.gone, which is no row of the register",
        ),
    ],
)
def test_a_claim_counts_only_for_its_own_chapter_and_for_a_row(record, message, monkeypatch):
    chapter = scoreboard.every_chapter()[0]
    monkeypatch.setattr(scoreboard, "every_chapter", lambda: [chapter])
    monkeypatch.setattr(scoreboard, "read_record", lambda path: {"chapter": chapter.name} | record)
    with pytest.raises(ChapterError, match=message):
        scoreboard.load_rows()
