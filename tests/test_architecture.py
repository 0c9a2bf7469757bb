"""The layers, the doors and the hot path, read from the source itself."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "rose")

# Low to high: a module imports its own unit or any lower row. docs/architecture.md explains.
LAYERS = (
    ("errors", "links"),
    ("files", "layout", "findings", "racy", "recovery", "yamltext"),
    ("aside", "derived", "frontmatter", "shapes", "tail", "values"),
    ("config", "history", "tokens", "redact", "text", "refs", "session", "trust"),
    ("hosts", "backends"),
    ("store", "routing"),
    ("refresh",),
    ("selection",),
    ("check",),
    ("reflection",),
    ("hook", "report", "evaluate"),
    ("recalled",),
    ("prompt",),
    ("mcp",),
    ("cli",),
    ("launch", "__main__"),
)
DOORS = {
    "yaml": "frontmatter",
    "tiktoken": "tokens",
    "tiktoken_ext": "tokens",
    "git": "history",
    "typer": "cli",
    "rich": "cli",
    "openai": "backends",
    "wordllama": "selection",
    "mcp": "mcp",
    "anyio": "mcp",
}
# Folders that hold data, no code.
DATA = ("data", "demo")
HOT = ("errors", "files", "layout", "session", "trust", "hosts.wire", "routing.compiled", "prompt")
NEVER_HOT = {"typer", "rich", "yaml", "tiktoken", "git", "pathlib", "dataclasses", "json", "re"}
LINES = 300
FUNCTION_LINES = 50
CLASS_LINES = 150


def _modules() -> list[tuple[str, str]]:
    found = []
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = [name for name in folders if name not in ("__pycache__", *DATA)]
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                dotted = os.path.relpath(path, PACKAGE)[:-3].replace(os.sep, ".")
                found.append((dotted, path))
    return sorted(found)


MODULES = _modules()
ROW = {unit: number for number, row in enumerate(LAYERS) for unit in row}


def _tree(path: str) -> ast.Module:
    with open(path, encoding="utf-8") as stream:
        return ast.parse(stream.read())


def _imports(path: str) -> list[str]:
    found = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            if module == "rose":
                found += [f"rose.{alias.name}" for alias in node.names]
            else:
                found.append(module)
    return found


@pytest.mark.parametrize(("dotted", "path"), MODULES)
def test_every_module_has_its_row_and_imports_only_downward(dotted, path):
    unit = dotted.split(".")[0]
    if unit == "__init__":
        return
    assert unit in ROW, f"{unit} is missing from LAYERS"
    for name in _imports(path):
        if not name.startswith("rose."):
            continue
        other = name.split(".")[1]
        if other == unit:
            continue
        is_entry = {unit, other} == {"launch", "__main__"}
        assert ROW[other] < ROW[unit] or is_entry, f"{dotted} imports {name}"


@pytest.mark.parametrize(("dotted", "path"), MODULES)
def test_a_package_is_imported_by_its_door_alone(dotted, path):
    unit = dotted.split(".")[0]
    for name in _imports(path):
        door = DOORS.get(name.split(".")[0])
        assert door in (None, unit), f"{dotted} imports {name}"


@pytest.mark.parametrize(("dotted", "path"), MODULES)
def test_a_package_file_is_empty_and_a_module_is_small(dotted, path):
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    if os.path.basename(path) == "__init__.py":
        assert text == ""
    assert text.count("\n") <= LINES, f"{dotted} is too long"
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            most = CLASS_LINES if isinstance(node, ast.ClassDef) else FUNCTION_LINES
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= most, f"{dotted}.{node.name} has {length} lines"


def test_every_folder_of_the_package_is_a_unit_or_data():
    folders = {
        name
        for name in os.listdir(PACKAGE)
        if os.path.isdir(os.path.join(PACKAGE, name)) and name != "__pycache__"
    }
    assert folders <= {*ROW, *DATA}


@pytest.mark.parametrize("dotted", HOT)
def test_a_hot_module_imports_at_its_top_nothing_that_costs(dotted):
    tree = _tree(os.path.join(PACKAGE, *dotted.split(".")) + ".py")
    allowed = {"__future__", "os", "sys", "time", "stat", "rose"}
    for node in tree.body:
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in allowed


@pytest.mark.parametrize(("dotted", "path"), MODULES)
def test_only_the_edge_reads_the_environment(dotted, path):
    if dotted.split(".")[0] in ("cli", "launch", "__main__", "prompt", "hook", "history", "tokens"):
        return
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) not in {
                ("os", "environ"),
                ("os", "getenv"),
                ("os", "getcwd"),
                ("sys", "argv"),
                ("sys", "stdout"),
            }, f"{dotted} reads {node.value.id}.{node.attr}"


def test_importing_a_door_does_not_import_its_package():
    units = sorted({f"rose.{unit}" for unit in DOORS.values() if unit != "cli"})
    units.append("rose.history.program")
    script = f"import sys, {', '.join(units)}; print(sorted(set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(ast.literal_eval(done.stdout))
    assert not loaded & {"yaml", "tiktoken", "git", "typer", "rich", "openai", "mcp", "anyio"}
