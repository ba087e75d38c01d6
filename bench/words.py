"""Texts for generated sessions: words, code, outputs and prompts, from a given source of randomness."""

from __future__ import annotations

from random import Random

_ENGLISH = """
the quick session parser handles tool results before pruning and keeps every parent link intact while the
guard watches file growth and token use across long turns so that nothing is lost when a reload happens
between two prompts error warning build test module function class import return value index
"""
_FOREIGN = "résumé naïve – “quoted” … größer → ✓ 会话 解析 сессия ошибка ツール 結果 🙂"
WORDS = _ENGLISH.split()
FOREIGN = _FOREIGN.split()
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
    """Code of that many bytes."""
    pieces, made = [], 0
    while made < size:
        piece = CODE.replace("process_item", f"process_{random.choice(WORDS)}_{random.randint(0, 9_999)}")
        pieces.append(piece)
        made += len(piece)
    return "".join(pieces)[:size]


def numbered(text: str, first: int) -> str:
    """A file's text as Claude Code shows it to the model."""
    return "\n".join(f"{first + line:>6}→{said}" for line, said in enumerate(text.split("\n")))


def output(random: Random, count: int, foreign: float = 0.0) -> str:
    """What a command printed: about that many words, twelve a line."""
    return "\n".join(words(random, 12, foreign) for _ in range(max(1, count // 12)))


def prompt(random: Random) -> str:
    """A person's request."""
    return random.choice(_PROMPTS).format(random.choice(FILES))
