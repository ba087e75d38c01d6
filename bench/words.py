"""Texts for generated sessions: words, code, outputs and prompts, from a given source of randomness."""

from __future__ import annotations

from random import Random

WORDS = (
    "the quick session parser handles tool results before pruning and keeps every parent link intact while the "
    "guard watches file growth and token use across long turns so that nothing is lost when a reload happens "
    "between two prompts error warning build test module function class import return value index"
).split()
FOREIGN = "résumé naïve – “quoted” … größer → ✓ 会话 解析 сессия ошибка ツール 結果 🙂".split()
CODE = """\
def process_item(item, config=None):
    if config is None:
        config = load_config()
    result = []
    for key, value in item.items():
        if key.startswith('_'):
            continue
        result.append((key, transform(value, config)))
    return dict(result)

"""
FILES = [f"/home/dev/project/src/module_{i}/file_{j}.py" for i in range(12) for j in range(8)]
_PROMPTS = (
    "Please fix the failing test in {}",
    "Refactor {} and keep the public API",
    "Why does {} raise here?",
    "Don't touch the config file, just update {}",
    "Always use pytest for {}",
    "Add logging to {}",
)


def words(random: Random, count: int, foreign: float = 0.0) -> str:
    """So many words; foreign: how often a text holds some that are not ASCII."""
    chosen = random.choices(WORDS, k=count)
    if foreign and random.random() < foreign:
        for _ in range(1 + count // 12):
            chosen[random.randrange(count)] = random.choice(FOREIGN)
    return " ".join(chosen)


def code(random: Random, size: int) -> str:
    """Code of about that many bytes, numbered as Claude Code shows a file that was read."""
    pieces, made, first = [], 0, random.randint(1, 500)
    while made < size:
        piece = CODE.replace("process_item", f"process_{random.choice(WORDS)}_{random.randint(0, 9_999)}")
        pieces.append(piece)
        made += len(piece)
    lines = "".join(pieces)[:size].split("\n")
    return "\n".join(f"{first + number:>6}→{line}" for number, line in enumerate(lines))


def output(random: Random, count: int, foreign: float = 0.0) -> str:
    """What a command printed: about that many words, twelve a line."""
    return "\n".join(words(random, 12, foreign) for _ in range(max(1, count // 12)))


def prompt(random: Random) -> str:
    """A person's request."""
    return random.choice(_PROMPTS).format(random.choice(FILES))
