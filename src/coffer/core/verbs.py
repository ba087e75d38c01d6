"""English verbs of work with code, and their forms."""

from __future__ import annotations

from functools import cache


def word_set(text: str) -> frozenset[str]:
    """The words of a table that is written as one text."""
    return frozenset(text.split())


BASE = word_set(
    """
    abort accept access add adjust allow alter amend analyse analyze answer apologise apologize append
    apply approve archive ask assign assume attach auto-format avoid base batch block branch break build
    bump bundle cache call cancel cast cat catch change check choose cite clean clear clone close collapse
    comment commit compare compile compute configure convert copy correct cover create curl cut debug
    declare define delete deploy describe disable document download draft drop dump duplicate edit embed
    enable end enforce ensure escape estimate execute explain export expose extend fake fetch finish fix
    flatten follow force force-merge force-push format forget generate give go grep group guess guard
    hand-edit hard-code hardcode hide hold ignore implement import include increase indent inherit
    initialize inject inline install interpolate introduce invent invoke join keep kill label leak leave
    let lint link list load log loosen lower make manage mark match measure mention merge migrate mix mock
    modify mount move mutate name narrate nest number omit open order overload override overwrite pad
    paste patch phrase pin ping pipe place plan point poll post praise prefer prefix print propose protect
    prune publish pull push put query quote raise ramble re-export re-run read reassign rebase rebuild
    record redo reduce refactor refer reference reformat regenerate register relax release remove rename
    render reorder reorganise reorganize repeat replace reply report request rerun rescue reset resolve
    restart restate restore restructure retry return reuse revert review rewrite roll rotate run save say
    scan schedule scope search seed send separate serve set share ship show shorten silence skip sleep
    reproduce confirm inspect profile benchmark clarify experiment
    sort split spread sprinkle squash stage start stash state stay stick stop store stub style submit
    suggest summarise summarize suppress swallow switch sync tag take tell test thank throw touch track
    translate trim truncate trust try tune turn type uncomment undo unwrap update upgrade upload use
    validate vendor verify wait walk warn wipe work wrap write
    """
)

IDLE = word_set(
    "worry bother know think see understand get mind care want need like have believe remember hesitate feel"
)
"""After "don't" these speak of the person or comfort; they forbid nothing."""

DOUBLING = word_set(
    "put run set get cut let stop skip commit drop log ship pin tag trim wrap plan stub "
    "strip swap pad cat begin scan stub unwrap omit submit format reformat auto-format refer debug grep re-run rerun"
)
VOWELS = "aeiou"


def gerund(verb: str) -> str:
    """`commit` → `committing`."""
    if verb in DOUBLING:
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return f"{verb[:-1]}ing"
    return f"{verb}ing"


@cache
def gerunds() -> dict[str, str]:
    """From the -ing form to the verb."""
    forms = {gerund(verb): verb for verb in BASE}
    forms |= {"force pushing": "force-push", "hard coding": "hardcode", "grepping": "grep"}
    return forms


def base_of(word: str) -> str | None:
    """The verb that a word is a form of, if it is one of ours."""
    low = word.lower()
    if low in BASE:
        return low
    if low in gerunds():
        return gerunds()[low]
    for end in ("es", "s", "ed", "d"):
        if low.endswith(end) and low.removesuffix(end) in BASE:
            return low.removesuffix(end)
    return None
