"""What the distributions hold, and that each way to install finds the templates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

PARTS = ("src", "prompts", "tests", "benchmarks", "docs", ".ci")
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "pyproject.toml")

RENDER = """
import sys
from chatfold import templates
print(templates.__file__)
print(templates.prompt_directory())
print(templates.load_templates().render(sys.argv[1]))
(templates.prompt_directory() / sys.argv[1]).write_text("edited meanwhile", encoding="utf-8")
print(templates.load_templates().render(sys.argv[1]))
"""


def _run(*command: str | Path, cwd: Path, path: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    run = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def _files(directory: Path) -> set[str]:
    return {
        path.relative_to(directory).as_posix()
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def copy(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with one more template, so that the checkout itself stays as it is."""
    target = tmp_path_factory.mktemp("copy") / "chatfold"
    target.mkdir()
    for part in PARTS:
        shutil.copytree(
            checkout / part, target / part, ignore=shutil.ignore_patterns("__pycache__", ".*_cache")
        )
    for file in FILES:
        shutil.copy(checkout / file, target / file)
    (target / "prompts" / "extra.jinja").write_text("first", encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def wheel(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from that copy."""
    target = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target, cwd=copy)
    (built,) = target.glob("*.whl")
    return built


def test_the_wheel_holds_every_module_every_template_and_nothing_else(
    copy: Path, wheel: Path
) -> None:
    """The wheel is src/chatfold, with prompts/ inside it and the type marker, and no tests."""
    expected = {f"chatfold/{name}" for name in _files(copy / "src" / "chatfold")}
    expected |= {f"chatfold/prompts/{name}" for name in _files(copy / "prompts")}
    held = {name for name in _names(wheel) if ".dist-info/" not in name}
    assert held == expected
    assert "chatfold/py.typed" in held


def test_the_wheel_carries_the_licence_and_the_command(wheel: Path) -> None:
    """The licence text and the `chatfold` command are part of the metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        assert "The chatfold authors" in archive.read(f"{info}/licenses/LICENSE").decode()
        assert "chatfold = chatfold.cli:main" in archive.read(f"{info}/entry_points.txt").decode()


def test_an_installed_wheel_renders_its_own_templates(wheel: Path, tmp_path: Path) -> None:
    """Unpacked anywhere, the package finds the templates inside it, which it reads once."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    output = _run(sys.executable, "-c", RENDER, "extra.jinja", cwd=tmp_path, path=tmp_path)
    assert output.splitlines() == [
        str(tmp_path / "chatfold" / "templates.py"),
        str(tmp_path / "chatfold" / "prompts"),
        "first",
        "first",
    ]


def test_a_zip_file_of_the_package_renders_its_templates(wheel: Path, tmp_path: Path) -> None:
    """A zip file is a place to import from: a zipapp, or a wheel in the path as it is."""
    program = RENDER.partition("(templates.prompt_directory() /")[0] + (
        "print(templates.load_templates({'extra.jinja': 'mine'}).render(sys.argv[1]))"
    )
    output = _run(sys.executable, "-c", program, "extra.jinja", cwd=tmp_path, path=wheel)
    assert output.splitlines() == [
        str(wheel / "chatfold" / "templates.py"),
        f"{wheel / 'chatfold' / 'prompts'}/",
        "first",
        "mine",
    ]


def test_a_package_without_its_templates_says_what_to_do(wheel: Path, tmp_path: Path) -> None:
    """As where a program was frozen without the data files of its packages."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith(".jinja")]
        archive.extractall(tmp_path, members=names)
    program = (
        "from chatfold import ChatContext\n"
        "from chatfold.errors import TemplateError\n"
        "items = [{'role': role, 'content': 'a b c ' * 99} for role in ('user', 'assistant') * 4]\n"
        "try: ChatContext(items).summarize('extractive', keep_last_turns=1)\n"
        "except TemplateError as error: print(error)\n"
    )
    output = _run(sys.executable, "-c", program, cwd=tmp_path, path=tmp_path)
    assert "reinstall chatfold, or have the tool that froze this program" in output


def test_pyinstaller_is_told_where_the_templates_are(wheel: Path, tmp_path: Path) -> None:
    """It asks for directories by an entry point, and runs the hook there; CI freezes a program."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "import runpy, sys\n"
        "from importlib.metadata import entry_points\n"
        "points = entry_points(group='pyinstaller40', name='hook-dirs')\n"
        "(point,) = points.select(module=sys.argv[1])\n"
        "(directory,) = point.load()()\n"
        "print(*runpy.run_path(directory + '/hook-chatfold.py')['datas'][0])\n"
    )
    module = "chatfold.__pyinstaller"
    output = _run(sys.executable, "-c", program, module, cwd=tmp_path, path=tmp_path)
    assert output.split() == [str(tmp_path / "chatfold" / "prompts"), "chatfold/prompts"]


def test_a_wheel_built_from_the_sdist_is_the_same(copy: Path, wheel: Path, tmp_path: Path) -> None:
    """The sdist holds all that a wheel needs, and tests, benchmarks and documents besides."""
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, cwd=copy)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    held = _files(unpacked)
    assert held >= {f"{part}/{name}" for part in PARTS for name in _files(copy / part)}
    assert held >= set(FILES)
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=unpacked)
    (rebuilt,) = tmp_path.glob("*.whl")
    assert rebuilt.read_bytes() == wheel.read_bytes()


def test_an_editable_install_reads_the_checkouts_templates_live(copy: Path, tmp_path: Path) -> None:
    """What `pip install -e` puts on the path leads to the checkout, where an edit shows at once."""
    hook = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"
    _run(sys.executable, "-c", hook, tmp_path, cwd=copy)
    (editable,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(editable) as archive:
        (link,) = (name for name in archive.namelist() if name.endswith(".pth"))
        source = Path(archive.read(link).decode().strip())
    template = copy / "prompts" / "extra.jinja"
    for text in ("first", "edited"):
        template.write_text(text, encoding="utf-8")
        output = _run(sys.executable, "-c", RENDER, "extra.jinja", cwd=tmp_path, path=source)
        assert output.splitlines()[1:] == [str(copy / "prompts"), text, "edited meanwhile"]
    template.write_text("first", encoding="utf-8")
