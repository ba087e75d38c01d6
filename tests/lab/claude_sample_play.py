"""The words of the sample session: what the person asks, what the model thinks, says and does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.claude_stage import Json

COMMENTS = (
    ("mkoster", "Happened again tonight. The chart simply is not there, the terminal says 'hour must be in 0..23'."),
    ("dreyes", "Which station? Can you send the file?"),
    ("mkoster", "Helgoland, November. The row of the 30th is 2026-11-30;24:00;L;0.40. It was the same in August."),
    ("tlund", "Esbjerg has it too. We get around it by asking for the next day, which is of course not the point."),
    ("dreyes", "The format says that 24:00 is on purpose. So the reader has to cope with it, we don't touch the file."),
    ("mkoster", "Please also look at the repeated hour while you are there. On 25 October the list was out of order."),
)
ISSUE = json.dumps(
    {
        "project": "TIDE",
        "number": 41,
        "title": "No chart on days that end with an extreme at 24:00",
        "state": "open",
        "labels": ["bug", "reader"],
        "reporter": "mkoster",
        "assignee": "dreyes",
        "milestone": "1.5",
        "body": "On some days the program ends with an error instead of the chart. It is always a day whose last row "
        "has the time 24:00. The officer then has no chart at the start of the shift.\n\nExpected: the extreme is "
        "shown at the end of the day.",
        "comments": [{"by": who, "text": text} for who, text in COMMENTS],
    },
    indent=2,
)


class Play:
    """The prompts of the person and what the model does about each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.prompts: list[tuple[str, list[Json]]] = []

    def says(self, prompt: str, *turns: Json) -> None:
        """Add a prompt with the model's turns."""
        self.prompts.append((prompt, list(turns)))

    def read(self, path: str, **part: int) -> Json:
        """Make a Read call."""
        return {"name": "Read", "input": {"file_path": str(self.root / path), **part}}

    def edit(self, path: str, old: str, new: str) -> Json:
        """Make an Edit call."""
        words = {"file_path": str(self.root / path), "old_string": old, "new_string": new}
        return {"name": "Edit", "input": words}


def run(command: str, description: str) -> Json:
    """Make a Bash call."""
    return {"name": "Bash", "input": {"command": command, "description": description}}


def turn(*tools: Json, text: str | None = None, thinking: str | None = None) -> Json:
    """Make a turn of the model."""
    made: dict[str, Any] = {"tools": list(tools)}
    if text is not None:
        made["text"] = text
    if thinking is not None:
        made["thinking"] = thinking
    return made


def play(p: Play) -> dict[str, list[Json]]:
    """Fill the play; return what the subagent does."""
    _look_around(p)
    _reader(p)
    _curve(p)
    _chart(p)
    _loose_ends(p)
    return {
        "Find every place that uses a station's time zone or its comma flag": [
            turn(
                run("grep -rn 'zone\\|comma\\|\\.now()' src tests docs", "Search for zone and comma"),
                text="I'll search first.",
            ),
            turn(p.read("src/tidepool/stations.py"), p.read("src/tidepool/cli.py")),
            turn(
                text="Time zones are used in one place only, `Station.now()` in stations.py; cli.py calls it three "
                "times (next, height, chart) and never sees the zone itself. The `comma` flag is set for delfzijl "
                "and harlingen, and nothing reads it: parse.py accepts both a comma and a point in every file."
            ),
        ]
    }


def _look_around(p: Play) -> None:
    p.says(
        "I've taken over tidepool from a colleague who left. Have a look around and tell me in a few lines how it is "
        "built and what shape it is in.",
        turn(
            run("git log --oneline | head -20; git status --short | head; find data -name '*.csv' | sort", "List it"),
            run("ls -la . src/tidepool tests docs; wc -l src/tidepool/*.py tests/*.py", "Show sizes"),
            thinking="They want an overview. The listing tells me the layout, the line counts tell me where the "
            "weight is. I should read the README and the largest module before I say anything about its shape, and "
            "run the tests so that I don't call something healthy that isn't.",
            text="I'll start with the layout.",
        ),
        turn(p.read("README.md"), p.read("src/tidepool/parse.py"), p.read("docs/format.md")),
        turn(run("pytest -q 2>&1 | tail -15", "Run the tests, summary only")),
        turn(
            text="tidepool is small and cleanly layered: `parse.py` turns the office's files into immutable "
            "records, `curve.py` computes heights between two extremes, `chart.py` draws, `cli.py` prints. Nothing "
            "but the standard library is used, and 420 data files lie under `data/`.\n\nIts shape is mixed. The code "
            "reads well, but 9 of 32 tests fail: five in the reader (24:00, estimated values, the sentinel of old "
            "files, the repeated hour), three in the chart, one in the curve. They look like tests that were "
            "written ahead of the repair. I'd go through them module by module, the reader first, because everything "
            "else rests on it.",
        ),
    )
    p.says(
        "Sounds right. Show me the failures in full, I want to see them myself.",
        turn(run("pytest -q 2>&1", "Run all tests with full failures")),
        turn(
            text="Those are all nine. Two of the reader's (`24:00` at the end of a day and of a year) raise the "
            "ValueError from `datetime.fromisoformat`, so on such days the program gives no chart at all. I'd take "
            "that one first."
        ),
    )
    p.says(
        "Check what TIDE 41 in the tracker says, I think that is the same thing.",
        turn({"name": "mcp__tracker__get_issue", "input": {"project": "TIDE", "issue": "41"}}),
        turn(
            text="Yes, TIDE-41 is exactly that: no chart on days whose last row is at 24:00, reported for Helgoland "
            "and Esbjerg. The last comment adds the repeated hour of 25 October, which is another of our failing "
            "tests. dreyes wrote that the reader has to cope and the file stays as it is, which agrees with CLAUDE.md."
        ),
    )


def _reader(p: Play) -> None:
    parse, tests = "src/tidepool/parse.py", "tests/test_parse.py"
    p.says(
        "Good. Start with the 24:00 rows.",
        turn(
            p.read(tests),
            p.read(parse, offset=88, limit=45),
            thinking="fromisoformat refuses hour 24. Either I special-case 24:00 and add a day, or I build the time "
            "as midnight plus a timedelta, which needs no special case and gives the first of January for the last "
            "of December for free. The second is simpler. But it would also accept 27:80, which the regular "
            "expression allows. A wrong height is worse than none, so I should refuse what isn't a time.",
        ),
        turn(
            p.edit(
                parse,
                "    when = dt.datetime.fromisoformat(f\"{row['day']} {row['hour']}:{row['minute']}\")\n",
                "    passed = dt.timedelta(hours=int(row[\"hour\"]), minutes=int(row[\"minute\"]))\n"
                "    if passed > dt.timedelta(days=1) or int(row[\"minute\"]) > 59:\n"
                "        raise TableError(path, number, f\"{row['hour']}:{row['minute']} is not a time\")\n"
                "    when = dt.datetime.fromisoformat(row[\"day\"]) + passed\n",
            )
        ),
        turn(run("pytest -q tests/test_parse.py -k 'last_minute' 2>&1", "Run the two tests")),
        turn(
            text="Both pass. The time is now midnight plus what has passed since, so 24:00 needs no special case, "
            "also not on 31 December. A time that doesn't exist is refused with the file and the line."
        ),
    )
    p.says(
        "No, wait. A row with 24:00 must stay on its own day in the chart's list, the officers compare it with the "
        "printed table. The docs say one row a day on purpose.",
        turn(
            p.read("src/tidepool/chart.py"),
            p.read("src/tidepool/cli.py"),
            thinking="They are right: Table.between is start included, end excluded, so the extreme at 24:00, now "
            "00:00 of the next day, drops out of the list of its own day. But the test wants `when` to be the "
            "next day's midnight, and for the arithmetic that is the only sensible value. So the listing has to "
            "include the end of the day when the row was written as 24:00. A flag on Extreme would carry that; the "
            "records are frozen, which is no problem.",
        ),
        turn(
            text="You're right: `between` excludes the end of the day, so that extreme would move to the next day's "
            "list. For the arithmetic `when` has to stay at midnight. I'd add a flag `closing` to `Extreme` "
            "(\"written as 24:00\") and let `Table.day()` return such a row with its own day. Shall I?"
        ),
    )
    p.says(
        "Yes. But keep Extreme frozen and don't give the flag a meaning outside the listing.",
        turn(
            p.edit(
                parse,
                "    estimated: bool = False\n    repeated: bool = False\n",
                "    estimated: bool = False\n    repeated: bool = False\n    closing: bool = False\n",
            ),
            p.edit(
                parse,
                "    def around(self, moment",
                "    def day(self, day: dt.date) -> tuple[Extreme, ...]:\n"
                '        """Return the rows of a day as the office prints them: one at 24:00 belongs to its day."""\n'
                "        start = dt.datetime.combine(day, dt.time())\n"
                "        end = start + dt.timedelta(days=1)\n"
                "        rows = (e for e in self.extremes if start <= e.when <= end)\n"
                "        return tuple(e for e in rows if e.closing == (e.when == end))\n\n"
                "    def around(self, moment",
            ),
            p.edit(
                parse,
                "        repeated=bool(row[\"second\"]),\n",
                "        repeated=bool(row[\"second\"]),\n        closing=passed == dt.timedelta(days=1),\n",
            ),
        ),
        turn(
            p.edit(
                "src/tidepool/cli.py",
                "    start = dt.datetime.combine(day, dt.time())\n"
                "    extremes = table.between(start, start + dt.timedelta(days=1))\n"
                "    picture = chart.draw(curve.day_curve(table, day), extremes)\n",
                "    picture = chart.draw(curve.day_curve(table, day), table.day(day))\n",
            ),
            run("pytest -q 2>&1 | tail -12; git diff --stat", "Run all tests"),
        ),
        turn(
            text="Done. `Extreme` stays frozen and has a `closing` flag that only `Table.day()` looks at; the chart "
            "asks for `table.day(day)` now. One thing came up: `test_the_last_minute_of_a_day` still compares only "
            "`when`, so it passes. 7 failures are left."
        ),
    )
    p.says(
        "Now the estimated values and the sentinel.",
        turn(
            p.read(parse),
            thinking="`high` compares with 'H' only, so an estimated high water is read as low: that is a wrong "
            "record, not just a missing one. And the sentinel is compared before the conversion, so 999.0 in old "
            "files becomes 9.99 metres. That is the fire brigade story. Convert first, then compare, with isclose "
            "because 999.0 / 100 need not be exactly 9.99.",
        ),
        turn(
            p.edit(
                parse,
                "    if height == SENTINEL:\n        return None\n    if centimetres:\n        height = height / 100\n",
                "    if centimetres:\n        height = height / 100\n"
                "    if math.isclose(height, SENTINEL):\n        return None\n",
            ),
            p.edit(parse, "import datetime as dt\nimport re\n", "import datetime as dt\nimport math\nimport re\n"),
            p.edit(parse, 'high=row["kind"] == "H",', 'high=row["kind"] in "Hh",'),
        ),
        turn(run("pytest -q tests/test_parse.py 2>&1", "Run the reader's tests")),
        turn(
            text="Both are repaired. An estimated high water is high again, and the sentinel is compared after the "
            "conversion, so the 999.0 of old files is skipped too. One failure is left in the reader: the repeated "
            "hour."
        ),
    )
    p.says(
        "And the repeated hour?",
        turn(
            p.read(parse, offset=86, limit=30),
            thinking="Rows of the second pass have a plus. Sorted by `when` alone, 02:40+ lands before 02:50. For "
            "sorting, the second pass is an hour later. That key is only for the order; `when` must stay what the "
            "table says. What about `around` and the curve? Between 02:50 and 02:40+ the span is negative. That is a "
            "second problem, and I should say so instead of hiding it behind a passing test.",
        ),
        turn(
            p.edit(
                parse,
                "tuple(sorted(extremes, key=lambda e: e.when))",
                "tuple(sorted(extremes, key=lambda e: e.when + dt.timedelta(hours=e.repeated)))",
            ),
            run("pytest -q tests/test_parse.py 2>&1 | tail -5", "Run the reader's tests"),
        ),
        turn(
            text="The reader's tests all pass. One warning: the order is right now, but `curve.height_between` "
            "computes with `when`, so between the first and the second pass of that hour its span can be negative. "
            "It raises a ValueError then (no chart, no wrong height), one night a year. I'd make that its own change."
        ),
    )
    p.says(
        "Agreed, own change, not today. Commit what we have. Never amend or squash here, and leave the prefix away.",
        turn(run("git add src && git diff --cached", "Show what will be committed")),
        turn(
            run(
                "git commit -q -m 'Read the last minute of a day and estimated high waters' -m 'Closes TIDE-41. "
                "A row at 24:00 stays with its day in the list, since the officers compare it with the printed "
                "table.' && git log --oneline | head -3",
                "Commit",
            )
        ),
        turn(text="Committed as one change with the reason in the body. I'll not amend or squash in this project."),
    )


def _curve(p: Play) -> None:
    curve, tests = "src/tidepool/curve.py", "tests/test_curve.py"
    p.says(
        "Next the curve.",
        turn(p.read(curve), p.read(tests)),
        turn(
            run("pytest -q tests/test_curve.py 2>&1", "Run the curve's tests"),
            thinking="`steepest` takes the largest speed, so falling water is never the fastest. abs() repairs it. "
            "While reading I see something else: `.seconds` of a timedelta ignores whole days. test_a_gap_of_more_"
            "than_a_day passes, but by luck: span is 25 h, .seconds gives 1 h, cos(12.5 pi) is 0, so the share is "
            "one half, which is what the test expects. That is a real bug behind a green test.",
        ),
        turn(
            p.edit(
                curve,
                "    fastest = max(range(len(speeds)), key=lambda i: speeds[i])\n",
                "    fastest = max(range(len(speeds)), key=lambda i: abs(speeds[i]))\n",
            ),
            run("pytest -q tests/test_curve.py 2>&1 | tail -3", "Run the curve's tests"),
        ),
        turn(
            text="`steepest` compares without the sign now and the test passes.\n\nI found a bug that no test "
            "shows: `height_between` uses `timedelta.seconds`, which forgets whole days. "
            "`test_a_gap_of_more_than_a_day` is green by luck, because it asks for the exact middle, where the wrong "
            "span happens to give the right share. With a moment at a quarter of the gap it fails. Shall I repair "
            "it and sharpen the test?"
        ),
    )
    p.says(
        "Yes, test first please. I want to see it fail before you repair it.",
        turn(
            p.edit(
                tests,
                "    assert curve.height_between(before, after, at(15, 30, day=28)) == pytest.approx(1.0)\n",
                "    assert curve.height_between(before, after, at(15, 30, day=28)) == pytest.approx(1.0)\n"
                "    assert curve.height_between(before, after, at(9, 15, day=28)) == pytest.approx(0.2929, abs=1e-4)\n",
            ),
            run("pytest -q tests/test_curve.py 2>&1", "See the test fail"),
        ),
        turn(
            p.edit(
                curve,
                "    span = (after.when - before.when).seconds / 60\n"
                "    passed = (moment - before.when).seconds / 60\n",
                "    span = (after.when - before.when).total_seconds()\n"
                "    passed = (moment - before.when).total_seconds()\n",
            ),
            run("pytest -q tests/test_curve.py 2>&1", "See it pass"),
        ),
        turn(
            text="It failed with a wrong height before the repair and passes after it. `total_seconds()` counts "
            "whole days, and the division by 60 went away since it cancels out."
        ),
    )
    p.says(
        "Have somebody else check where the time zones and that comma flag are used, I don't want to spend our "
        "window on it.",
        turn(
            {
                "name": "Agent",
                "input": {
                    "description": "Find uses of zones and comma",
                    "prompt": "Find every place that uses a station's time zone or its comma flag, in src, tests and "
                    "docs of this project. Report who reads them and whether anything sets them without a reader.",
                    "subagent_type": "general-purpose",
                },
            }
        ),
        turn(
            text="Zones are used only inside `Station.now()`, as CLAUDE.md wants it. The `comma` flag of delfzijl and "
            "harlingen is dead: the reader accepts both signs in every file. It can go, or it can make the "
            "reader stricter. I'd remove it."
        ),
    )
    p.says(
        "Remove it.",
        turn(
            p.read("src/tidepool/stations.py"),
            run("grep -rn 'comma' src tests docs README.md", "Make sure that nobody reads it"),
        ),
        turn(
            p.edit("src/tidepool/stations.py", "    zone: str\n    comma: bool = False\n", "    zone: str\n"),
            p.edit(
                "src/tidepool/stations.py",
                '53.3264, 6.9331, "Europe/Amsterdam", comma=True)',
                '53.3264, 6.9331, "Europe/Amsterdam")',
            ),
            p.edit(
                "src/tidepool/stations.py",
                '53.1756, 5.4094, "Europe/Amsterdam", comma=True)',
                '53.1756, 5.4094, "Europe/Amsterdam")',
            ),
        ),
        turn(run("pytest -q 2>&1 | tail -8", "Run all tests")),
        turn(text="The flag is gone, nothing else changed. Three failures are left, all in the chart."),
    )
    p.says(
        "Commit that as two commits, the curve and the flag.",
        turn(
            run(
                "git add src/tidepool/curve.py tests/test_curve.py && git commit -q -m 'Count whole days between two "
                "extremes' -m 'The test was green by luck: it asked for the exact middle of the gap.' && git add -A "
                "&& git commit -q -m 'Remove the comma flag that nobody read' && git log --stat | head -40",
                "Two commits",
            )
        ),
        turn(text="Two commits, each with its own thought."),
    )


def _chart(p: Play) -> None:
    chart, tests = "src/tidepool/chart.py", "tests/test_chart.py"
    p.says(
        "Now the chart. The officers sent a picture of how it looks on their screen, docs/chart.png, have a look.",
        turn(p.read("docs/chart.png"), p.read(chart), p.read(tests)),
        turn(
            text="The picture shows a proper wave with two high waters, and grey lines each half metre. What I "
            "notice: the top of the wave touches the upper edge and the grey lines are drawn behind the water only. "
            "In our text chart the scale is the thing that can do this: `scale` uses `int`, which rounds towards "
            "zero, so a height below datum gets a line that is too high, and a height exactly on a half metre gets "
            "one line too many."
        ),
    )
    p.says(
        "So what do you suggest?",
        turn(
            thinking="Three failures: scale rounds towards zero, columns divides by zero when there are fewer heights "
            "than columns, title lowercases the rest of the name because of str.capitalize. Each has a small repair. "
            "I should not restructure. They asked for a suggestion, so no edits yet.",
            text="Three small repairs, one per failing test:\n\n1. `scale`: `math.floor` and `math.ceil` on half "
            "metres instead of `int`.\n2. `columns`: each column takes at least one height, so a short list is "
            "stretched instead of dividing by zero.\n3. `title`: leave the name as it is; `capitalize` turns "
            "\"Helgoland Binnenhafen\" into \"Helgoland binnenhafen\".\n\nI would leave the layout alone.",
        ),
    )
    p.says(
        "Do it, but show me the rendered chart of Helgoland for 12 November before and after.",
        turn(run("PYTHONPATH=src python3 -B -c 'from tidepool.cli import main; main([\"chart\", \"helgoland\", "
                 "\"2026-11-12\"])'", "Chart before")),
        turn(
            p.edit(
                chart,
                "    return int(low * 2) / 2, int(high * 2 + 1) / 2\n",
                "    return math.floor(low * 2) / 2, math.ceil(high * 2) / 2\n",
            ),
            p.edit(
                chart,
                "        part = heights[int(i * step) : int((i + 1) * step)]\n",
                "        start = int(i * step)\n"
                "        part = heights[start : max(int((i + 1) * step), start + 1)]\n",
            ),
            p.edit(chart, "{station.capitalize()}, ", "{station}, "),
        ),
        turn(run("pytest -q tests/test_chart.py 2>&1", "Run the chart's tests")),
        turn(
            p.edit(chart, "import datetime as dt\nfrom", "import datetime as dt\nimport math\nfrom"),
            run("pytest -q 2>&1 | tail -4", "Run all tests"),
            text="I forgot the import.",
        ),
        turn(run("PYTHONPATH=src python3 -B -c 'from tidepool.cli import main; main([\"chart\", \"helgoland\", "
                 "\"2026-11-12\"])'", "Chart after")),
        turn(
            text="All 32 tests pass. The two charts differ in the heading only (\"Helgoland Binnenhafen\" keeps its "
            "capital), because on that day no height is below datum or on a half metre exactly."
        ),
    )
    p.says(
        "The hours below the chart look shifted to me. Is 12 really at noon?",
        turn(
            p.read(chart, offset=52, limit=30),
            run("pytest -v tests/test_chart.py 2>&1", "Run the chart's tests, each by name"),
            thinking="72 columns, 3 columns an hour, 12 at column 36: that is noon. The text starts at the column, "
            "the mark of an extreme at 12:00 too. What they see may be the scale on the left: 7 characters in front "
            "of the bar, and 7 blanks in front of the hours. Equal. So it is right; the two digits are drawn to "
            "the right of their column, which looks shifted by half a column.",
        ),
        turn(
            text="It is at noon: with 72 columns an hour has three, and \"12\" begins at column 36, the same column "
            "where an extreme at 12:00 gets its mark. It looks shifted because the two digits stand to the right of "
            "their column instead of around it. I would leave it, or put a tick `|` above the first digit."
        ),
    )
    p.says(
        "Leave it then. Commit the chart.",
        turn(run("git add -A && git commit -q -m 'Round the scale outwards and keep names as they are' && git log "
                 "--oneline | head -5", "Commit")),
        turn(text="Committed. The tests are green for the first time since you took over."),
    )


def _loose_ends(p: Play) -> None:
    parse = "src/tidepool/parse.py"
    p.says(
        "Does the reader survive all files that we have? Try every one.",
        turn(
            run(
                "PYTHONPATH=src python3 -B - <<'EOF'\nfrom pathlib import Path\nfrom tidepool import parse\n"
                "for path in sorted(Path('data').rglob('*.csv')):\n    table = parse.read(path)\n"
                "    low = min(table.extremes, key=lambda e: e.height)\n"
                "    print(f'{path} {len(table.extremes)} rows, lowest {low.height:.2f} at {low.when}')\nEOF",
                "Read all files",
            ),
            thinking="420 files, one line each is about 30 KB of output. I could print only what fails, but they "
            "asked whether it survives all, and the lowest height is a cheap check that no unit went wrong.",
        ),
        turn(
            text="All 420 files are read without an error. The lowest height is plausible in every file (0.2 to "
            "0.4 m), so no file is read in the wrong unit. I should have printed only the exceptions; the next time "
            "I'll keep such a list out of the conversation."
        ),
    )
    p.says(
        "Please do. Then write the change list for 1.5, short, for the officers, not for programmers.",
        turn(
            run("git log --format='%s%n%b' | head -30", "What changed"),
            thinking="For duty officers: what was wrong on their screen and how it behaves now. No module names.",
        ),
        turn(
            {
                "name": "Write",
                "input": {
                    "file_path": str(p.root / "CHANGES.md"),
                    "content": "# Changes\n\n## 1.5\n\n* Days whose last row is at 24:00 have a chart again, and the "
                    "row stands in the list of its own day, as in the printed table.\n* A high water that the office "
                    "estimated is shown as high water. It was shown as low water.\n* Files from before 2019: a "
                    "failed gauge is left out instead of being shown as 9.99 m.\n* The list is in order in the night "
                    "when the clocks go back.\n* The fastest change of the day may be falling water.\n* Names of "
                    "stations keep their capitals.\n",
                },
            }
        ),
        turn(
            text="CHANGES.md is there: six lines, each says what was wrong on the screen and how it is now. The night "
            "of the clock change is worded carefully: the list is in order, the curve of that hour still is not "
            "drawn."
        ),
    )
    p.says(
        "I changed the docstring of read() by hand in the meantime. Look at it again and tell me whether it is true.",
        turn(p.read(parse)),
        turn(
            text="I see the file as I left it: the docstring of `read` says \"Read one file. Raises TableError when "
            "a line makes no sense.\" That is true, and it misses one case: a file without the header STATION raises "
            "TableError too. Maybe your editor has not saved yet?"
        ),
    )
    p.says(
        "Right, I had not saved. Never mind, add that case yourself.",
        turn(
            p.edit(
                parse,
                '    """Read one file. Raises TableError when a line makes no sense."""\n',
                '    """Read one file. Raises TableError when a line makes no sense or the station is missing."""\n',
            ),
            run("pytest -q 2>&1 | tail -3", "Run all tests"),
        ),
        turn(text="Added; the tests still pass."),
    )
    p.says(
        "Last thing. Make the one night a year work: between the two passes of the repeated hour. How big is that?",
        turn(
            p.read("src/tidepool/curve.py"),
            p.read(parse, offset=20, limit=70),
            thinking="The honest way: give Extreme a property `elapsed` that is `when` plus an hour in the second "
            "pass, and compute with it. But a moment that the caller asks for has no such mark, so 02:40 is "
            "ambiguous in that night. day_curve could walk in real minutes (25 hours), which changes the chart's "
            "width. That is a design question, not a repair.",
        ),
        turn(
            text="Bigger than it looks. The extremes carry the mark of the second pass, but the moment that is asked "
            "for does not: in that night \"02:40\" means two moments. Either `height` takes the first pass by "
            "definition and the chart shows 24 hours (about 15 lines, no new question for the officers), or the chart "
            "of that day has 25 hours (about 60 lines, and the line of hours changes). I recommend the first, as its "
            "own change with a test for both passes."
        ),
    )
    p.says(
        "The first then, but tomorrow. Write down where we are so that I can go on.",
        turn(run("git status --short; git log --oneline | head -8", "Where are we")),
        turn(
            text="Where we are:\n\n* Done and committed: reader (24:00, estimated values, sentinel, order of the "
            "repeated hour), curve (whole days, falling water), chart (scale, short lists, names), the dead comma "
            "flag. 32 tests pass.\n* Not committed: CHANGES.md and the docstring of `read`.\n* Next: in the night of "
            "the clock change `height` takes the first pass; a test for both passes in `tests/test_curve.py`; the "
            "chart keeps 24 hours.\n* Rules you gave: the data files stay as they are, `Extreme` stays frozen, a "
            "test fails before it is repaired, no amend, no squash, no prefix in commits."
        ),
    )
