"""The shape of the house: who may import whom, what is pure, and how large a room may be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "coffer"

ORDER = ("errors", "core", "agents", "disk", "store", "models", "work", "mcp", "daemon", "launch", "cli")
"""DESIGN section 3: a layer imports only itself and those to its left."""

WORK_ORDER = (
    "settings",
    "project",
    "sessions",
    "agent_settings",
    "receipts",
    "rules",
    "delivery",
    "pruning",
    "memory",
    "guarding",
    "setup",
    "undo_any",
)
"""The topics of `work`, in the same manner: each knows only those above it."""

ALONE = ("hook", "pipe")
"""Modules that import nothing of ours."""

PURE = ("core", "agents")
IMPURE_MODULES = frozenset(
    {
        "asyncio",
        "fcntl",
        "glob",
        "http",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "requests",
        "secrets",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
    }
)
IMPURE_CALLS = frozenset({"open", "print", "input", "now", "today", "utcnow", "getenv", "exec", "eval"})

LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
DEEPEST_NESTING = 4


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def layer(self) -> str:
        return self.name.split(".")[1] if "." in self.name else ""


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text("utf-8")
        found.append(Module(name, path, ast.parse(text), text.count("\n")))
    return tuple(found)


def imports(module: Module) -> Iterator[str]:
    """Every imported module, also inside functions."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}: relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def of_every_module(check: Callable[[Module], None]) -> Callable[[], None]:
    """One test, not three thousand: each worker collects them all."""

    def test() -> None:
        for module in modules():
            check(module)

    return test


def test_there_are_modules() -> None:
    assert len(modules()) > 20


@of_every_module
def test_imports_follow_the_order(module: Module) -> None:
    if module.layer == "":
        return
    if module.layer in ALONE:
        assert not [name for name in imports(module) if name.startswith("coffer")], module.name
        return
    rank = ORDER.index(module.layer)
    for name in imports(module):
        if name.startswith("coffer."):
            other = name.split(".")[1]
            assert ORDER.index(other) <= rank, f"{module.name} imports {name}"


@of_every_module
def test_the_topics_of_work_follow_their_order(module: Module) -> None:
    if not module.name.startswith("coffer.work."):
        return
    rank = WORK_ORDER.index(module.name.split(".")[2])
    for name in imports(module):
        if name.startswith("coffer.work."):
            assert WORK_ORDER.index(name.split(".")[2]) <= rank, f"{module.name} imports {name}"


def test_there_are_no_cycles() -> None:
    known = {module.name for module in modules()}
    graph = {module.name: {name for name in imports(module) if name in known} for module in modules()}
    # the command table names modules by text; only `completion` needs the group back
    graph["coffer.cli.completion"].discard("coffer.cli.main")
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " → ".join((*path, name))
        if name not in done:
            for other in sorted(graph[name] - {name}):
                visit(other, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


@of_every_module
def test_core_and_agents_are_pure(module: Module) -> None:
    if module.layer not in PURE:
        return
    roots = {name.split(".")[0] for name in imports(module)}
    assert not roots & IMPURE_MODULES, module.name
    called = {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    assert not called & IMPURE_CALLS, module.name


@of_every_module
def test_packages_are_empty(module: Module) -> None:
    if module.path.name == "__init__.py":
        assert module.path.read_text("utf-8").strip() == "", module.name


@of_every_module
def test_no_silent_broad_except(module: Module) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            assert any(isinstance(inner, ast.Raise) for inner in ast.walk(node)), (
                f"{module.name}:{node.lineno}"
            )


def _is_broad(caught: ast.expr | None) -> bool:
    return caught is None or (isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException"))


@of_every_module
def test_modules_are_short(module: Module) -> None:
    assert module.lines <= LONGEST_MODULE, module.name


@of_every_module
def test_functions_are_short_and_flat(module: Module) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno + 1 <= LONGEST_FUNCTION, f"{module.name}:{node.name}"
            assert _depth(node) <= DEEPEST_NESTING, f"{module.name}:{node.name}"


def _depth(node: ast.AST) -> int:
    deepest = 0
    for child in ast.iter_child_nodes(node):
        nests = isinstance(child, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match)
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, _depth(child) + (nests and not chained))
    return deepest


def test_no_module_is_a_drawer() -> None:
    assert not {module.path.stem for module in modules()} & {"helpers", "utils", "common", "misc", "util"}
