"""Finding, overriding and rendering prompt templates, and what their failures say."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatfold.errors import TemplateError
from chatfold.template_files import file_loader, fixed_loader, prompt_directory
from chatfold.templates import TemplateSet, check_templates, load_templates

BUILT_IN = sorted(
    path.name for path in prompt_directory().iterdir() if path.name.endswith(".jinja")
)
NAME = BUILT_IN[0]

LONG_TEXTS = st.sampled_from(["\0b\0", "a" * 300, "\0"])

Source = Callable[[Path, str], object]


def _directory(tmp_path: Path, text: str) -> object:
    (tmp_path / NAME).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / NAME).write_text(text, encoding="utf-8")
    return tmp_path


def _directory_as_text(tmp_path: Path, text: str) -> object:
    return str(_directory(tmp_path, text))


def _mapping(_: Path, text: str) -> object:
    return {NAME: text}


def _environment(_: Path, text: str) -> object:
    return jinja2.Environment(loader=jinja2.DictLoader({NAME: text}), autoescape=True)


every_source = pytest.mark.parametrize(
    "source", [_directory, _directory_as_text, _mapping, _environment]
)


def _source_of(name: str) -> str:
    return (prompt_directory() / name).read_text(encoding="utf-8")


def test_every_built_in_template_compiles() -> None:
    """Each file in `prompts/` is UTF-8 and free of syntax errors."""
    environment = jinja2.Environment(autoescape=False)
    for name in BUILT_IN:
        environment.parse(_source_of(name), name=name)


def test_built_in_templates_are_in_ascii() -> None:
    """One character beyond Latin-1 makes Python hold a whole prompt in twice as many bytes."""
    assert [name for name in BUILT_IN if not _source_of(name).isascii()] == []


def test_the_built_in_set_is_made_once() -> None:
    """Without `templates=` every call gets the same set, so templates are compiled once."""
    assert load_templates() is load_templates(None)


@every_source
def test_a_template_of_the_callers_replaces_the_built_in_one(
    source: Source, tmp_path: Path
) -> None:
    """A directory, a mapping and an environment all override by name."""
    templates = load_templates(source(tmp_path, "mine: {{ x }}\n"))  # type: ignore[arg-type]
    assert templates.render(NAME, x=1) == "mine: 1"


@every_source
def test_templates_that_are_not_overridden_stay_built_in(source: Source, tmp_path: Path) -> None:
    """What the caller does not give comes from the built-in set, here with its own errors."""
    templates = load_templates(source(tmp_path, "mine"))  # type: ignore[arg-type]
    for name in BUILT_IN[1:]:
        theirs = _outcome(templates, name)
        assert theirs == _outcome(load_templates(), name)


def _outcome(templates: object, name: str) -> str:
    assert isinstance(templates, TemplateSet)
    try:
        return templates.render(name)
    except TemplateError as error:
        return str(error)


@every_source
def test_values_are_inserted_as_they_are(source: Source, tmp_path: Path) -> None:
    """No source escapes a second time, not even an environment with autoescape on."""
    templates = load_templates(source(tmp_path, "{{ x }}"))  # type: ignore[arg-type]
    assert templates.render(NAME, x="&lt;b> '\"") == "&lt;b> '\""


@given(st.text())
def test_a_value_is_never_read_as_a_template(value: str) -> None:
    """Whatever text is inserted comes out as it went in, Jinja marks included."""
    templates = load_templates({NAME: "[{{ x }}]"})
    for text in (value, "{{ " + value, "{% raw %}" + value + "{# #}"):
        assert templates.render(NAME, x=text) == f"[{text}]"


def test_block_lines_leave_no_blank_lines_and_the_last_line_break_is_dropped() -> None:
    """Tags on lines of their own vanish with their lines, and so does one final line break."""
    text = "a\n    {% if x %}\nb\n    {% endif %}\nc\n"
    assert load_templates({NAME: text}).render(NAME, x=True) == "a\nb\nc"


@every_source
def test_an_undefined_name_is_an_error_with_template_and_line(
    source: Source, tmp_path: Path
) -> None:
    """A name that nobody gave fails, instead of leaving a hole in the prompt."""
    templates = load_templates(source(tmp_path, "one\ntwo {{ nobody }}"))  # type: ignore[arg-type]
    with pytest.raises(TemplateError, match=r"line 2.*'nobody' is undefined") as caught:
        templates.render(NAME)
    assert (caught.value.template, caught.value.line) == (NAME, 2)
    assert isinstance(caught.value.__cause__, jinja2.UndefinedError)


@every_source
def test_a_syntax_error_is_an_error_with_template_and_line(source: Source, tmp_path: Path) -> None:
    """A template that does not parse names itself and the line."""
    templates = load_templates(source(tmp_path, "one\n\n{% if %}"))  # type: ignore[arg-type]
    with pytest.raises(TemplateError, match=re.escape(NAME) + ".*line 3") as caught:
        templates.render(NAME)
    assert (caught.value.template, caught.value.line) == (NAME, 3)
    assert isinstance(caught.value.__cause__, jinja2.TemplateSyntaxError)


@every_source
def test_an_exception_inside_a_template_is_an_error_with_template_and_line(
    source: Source, tmp_path: Path
) -> None:
    """Whatever a template raises while it runs becomes a TemplateError with the cause."""
    templates = load_templates(source(tmp_path, "\n\n\n{{ 1 // x }}"))  # type: ignore[arg-type]
    with pytest.raises(TemplateError, match=r"line 4: ZeroDivisionError") as caught:
        templates.render(NAME, x=0)
    assert caught.value.line == 4
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_in_an_included_template_names_that_template() -> None:
    """The innermost template is the one to mend: an include, and a macro of another file."""
    templates = load_templates(
        {
            NAME: "\n{% include 'part' %}",
            "part": "\n\n{{ nobody }}",
            "outer": "{% import 'macros' as m %}\n{{ m.shout(x) }}",
            "macros": "{% macro shout(x) %}\n\n\n{{ x.upper() }}{% endmacro %}",
        }
    )
    with pytest.raises(TemplateError) as included:
        templates.render(NAME)
    assert (included.value.template, included.value.line) == ("part", 3)
    with pytest.raises(TemplateError) as imported:
        templates.render("outer", x=1)
    assert (imported.value.template, imported.value.line) == ("macros", 4)


def test_a_syntax_error_in_an_included_template_names_that_template() -> None:
    """A part that does not parse is named, not the template that includes it."""
    templates = load_templates({NAME: "{% include 'part' %}", "part": "\n{{ }}"})
    with pytest.raises(TemplateError) as caught:
        templates.render(NAME)
    assert (caught.value.template, caught.value.line) == ("part", 2)


@pytest.mark.parametrize("included", [False, True])
def test_a_file_that_is_not_utf_8_is_an_error_with_template_and_line(
    tmp_path: Path, included: bool
) -> None:
    """A byte that does not decode is reported with the file and line that hold it."""
    bad = "part" if included else NAME
    _directory(tmp_path, "\n\n\n{% include 'part' %}")
    (tmp_path / bad).write_bytes(b"one\ntwo \xff")
    with pytest.raises(TemplateError) as caught:
        load_templates(tmp_path).render(NAME)
    assert (caught.value.template, caught.value.line) == (bad, 2)
    assert isinstance(caught.value.__cause__, UnicodeDecodeError)


def test_a_byte_order_mark_is_no_part_of_the_prompt(tmp_path: Path) -> None:
    """A file saved with a byte order mark renders as one without."""
    _directory(tmp_path, "\ufeffhello")
    assert load_templates(tmp_path).render(NAME) == "hello"


@pytest.mark.parametrize("name", ["no such file", "../pyproject.toml", ".", ""])
def test_a_missing_template_is_an_error_with_its_name(name: str) -> None:
    """A name that no source holds is named; there is no step out of the directory."""
    with pytest.raises(TemplateError, match="there is no template") as caught:
        load_templates().render(name)
    assert (caught.value.template, caught.value.line) == (name, None)


def test_an_edited_file_shows_in_the_next_prompt(tmp_path: Path) -> None:
    """A directory is read live: edits, new files and deletions count from the next render on."""
    templates = load_templates(_directory(tmp_path, "first"))  # type: ignore[arg-type]
    assert templates.render(NAME) == "first"
    _directory(tmp_path, "second, and longer")
    assert templates.render(NAME) == "second, and longer"
    (tmp_path / NAME).unlink()
    assert _outcome(templates, NAME) == _outcome(load_templates(), NAME)


def _steady(loader: jinja2.BaseLoader) -> TemplateSet:
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined)
    return TemplateSet(environment, steady=True)


WORDS = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.text(max_size=3), LONG_TEXTS)
GIVEN = st.fixed_dictionaries(dict.fromkeys("abcd", WORDS))


ALIKE = [{"a": a, "b": "b", "c": 0, "d": "d"} for a in (True, 1, "True", "1")]


@given(st.lists(GIVEN, min_size=2, max_size=6))
@example(ALIKE)
@example(ALIKE[::-1])
def test_a_kept_text_is_what_would_be_rendered(given_values: list[dict[str, object]]) -> None:
    """Whatever the values: short, long, true and 1; and whatever came before."""
    source = "{% if a %}[{{ a }}]{% endif %}{{ b }}{{ c * 2 if c else d }} {{ b }}{{ d }}"
    kept, plain = _steady(jinja2.DictLoader({NAME: source})), load_templates({NAME: source})
    for values in given_values:
        assert kept.render(NAME, **values) == plain.render(NAME, **values)
        less = {name: value for name, value in values.items() if name != "b"}
        with pytest.raises(TemplateError, match="'b' is undefined"):
            kept.render(NAME, **less)


@pytest.mark.parametrize("name", ["summarize_system.jinja", "summarize_user.jinja"])
def test_a_prompt_is_not_rendered_again_for_another_conversation(name: str) -> None:
    """What is only inserted is put into what is known; and the template is not asked again."""
    templates, rendered = load_templates(), list[str]()
    assert isinstance(templates, TemplateSet)
    other = {"language": None, "max_tokens": 987, "has_previous_summary": False}
    templates.render(name, conversation="one", instructions=None, **other)
    template = templates._find(name)
    render = template.root_render_func
    template.root_render_func = lambda context: rendered.append("again") or render(context)  # type: ignore[func-returns-value,method-assign]
    try:
        long = templates.render(name, conversation="two \0" * 1_000, instructions=None, **other)
        assert ("two \0" * 1_000 in long) == (name == "summarize_user.jinja")
        assert not rendered
        said = templates.render(name, conversation="one", instructions="Be brief.", **other)
        assert ("Be brief." in said) == bool(rendered) == (name == "summarize_user.jinja")
    finally:
        template.root_render_func = render  # type: ignore[method-assign]


def test_an_edited_built_in_template_shows_soon(tmp_path: Path) -> None:
    """Of an editable install people edit them; to look at each for each fold takes its time."""
    _directory(tmp_path, "first")
    soon, late = (_steady(file_loader(tmp_path, every=seconds)) for seconds in (0.01, 3600.0))
    never = _steady(fixed_loader(tmp_path))
    assert {t.render(NAME) for t in (soon, late, never) for _ in range(2)} == {"first"}
    _directory(tmp_path, "another, longer")
    until = time.monotonic() + 60.0
    while soon.render(NAME) == "first" and time.monotonic() < until:
        time.sleep(0.005)
    said = [t.render(NAME) for t in (soon, late, never)]
    assert said == ["another, longer", "first", "first"]


def test_an_edited_file_shows_in_the_next_prompt_though_texts_are_kept(tmp_path: Path) -> None:
    """Where it is looked at each time."""
    _directory(tmp_path, "{{ x }} first")
    templates = _steady(file_loader(tmp_path))
    assert [templates.render(NAME, x=x) for x in ("a", "b")] == ["a first", "b first"]
    _directory(tmp_path, "{{ x }} and {{ y }}, longer")
    assert templates.render(NAME, x="a", y="c") == "a and c, longer"
    (tmp_path / NAME).unlink()
    with pytest.raises(TemplateError, match="there is no template"):
        templates.render(NAME, x="a", y="c")


def test_a_template_that_includes_another_is_rendered_each_time(tmp_path: Path) -> None:
    """The other may change, and use what this one does not name."""
    _directory(tmp_path, "{% include 'other' %}")
    (tmp_path / "other").write_text("{{ x }}", encoding="utf-8")
    templates = _steady(file_loader(tmp_path))
    assert [templates.render(NAME, x=x) for x in ("a", "b")] == ["a", "b"]


def test_a_template_may_build_on_a_built_in_one() -> None:
    """An override includes built-in templates by their names."""
    templates = load_templates({NAME: "{% include '" + BUILT_IN[1] + "' ignore missing %}!"})
    direct = _outcome(load_templates(), BUILT_IN[1])
    assert _outcome(templates, NAME) in (direct, direct + "!")


def test_an_environment_keeps_its_filters_and_is_not_changed() -> None:
    """The caller's environment is overlaid: its filters work, its own settings stay."""
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({NAME: "{{ x | shout }}"}), autoescape=True, enable_async=True
    )
    environment.filters["shout"] = str.upper
    assert load_templates(environment).render(NAME, x="<a>") == "<A>"
    assert environment.autoescape is True
    assert environment.is_async is True
    assert environment.undefined is jinja2.Undefined


def test_an_object_that_renders_is_taken_as_it_is() -> None:
    """Anything with `render(name, **values)` is used without a wrapper, a TemplateSet too."""

    class Mine:
        def render(self, name: str, /, **values: object) -> str:
            return f"{name}{values}"

    mine = Mine()
    assert load_templates(mine) is mine
    mapped = load_templates({NAME: ""})
    assert load_templates(mapped) is mapped


def test_a_source_that_overrides_nothing_is_refused(tmp_path: Path) -> None:
    """A misspelt name would be silently ignored, so it is an error that lists the right ones."""
    (tmp_path / "other.jinja").write_text("x", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(NAME)):
        load_templates(tmp_path)
    with pytest.raises(ValueError, match=re.escape(NAME)):
        load_templates({"other.jinja": "x"})


def test_a_directory_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """A wrong path is told at once, before any prompt is made."""
    with pytest.raises(ValueError, match="does not exist"):
        load_templates(tmp_path / "nowhere")


def test_an_environment_without_a_loader_is_refused() -> None:
    """An environment that can find nothing is told at once."""
    with pytest.raises(ValueError, match="without a loader"):
        load_templates(jinja2.Environment(autoescape=False))


@pytest.mark.parametrize("source", [7, object(), ["a"], {NAME: 7}, {7: "a"}])
def test_a_source_of_the_wrong_type_is_refused(source: object) -> None:
    """What cannot hold templates is a TypeError that says what can."""
    with pytest.raises(TypeError, match="templates="):
        load_templates(source)  # type: ignore[arg-type]


USER = "summarize_user.jinja"
SEEN = "{{ conversation }}"

WRONG = {
    "{% if %}": (1, "TemplateSyntaxError"),
    "one\n{{ x": (2, "TemplateSyntaxError"),
    "\n\n{{ convresation }}": (3, "'convresation' is undefined; the names here are conversation, "),
    "{% if language %}\n{{ tongue }}{% endif %}": (2, "'tongue' is undefined"),
    "{{ later }}\n{% if later is given %}x{% endif %}": (2, "there is no test 'given'"),
    "\n{{ language | shout }}": (2, "there is no filter 'shout'"),
    "{% if language %}\n{{ language | shout }}{% endif %}": (2, "there is no filter 'shout'"),
    "\n{% include 'part' %}": (2, "there is no template 'part'"),
    "\n{% from 'part' import x %}{{ x }}": (2, "there is no template 'part'"),
}


@every_source
@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_with_a_template_shows_when_it_is_given(
    source: Source, tmp_path: Path, text: str
) -> None:
    """Without a value and without a run; later it would cost every fold, in a warning each."""
    line, said = WRONG[text]
    made = source(tmp_path, "")
    if isinstance(made, jinja2.Environment):
        made.loader = jinja2.DictLoader({USER: SEEN + text})
    elif isinstance(made, dict):
        made[USER] = SEEN + text
    else:
        (tmp_path / USER).write_text(SEEN + text, encoding="utf-8")
    with pytest.raises(TemplateError, match=f"line {line}: .*{re.escape(said)}") as caught:
        check_templates(made)
    assert (caught.value.template, caught.value.line) == (USER, line)
    if not isinstance(made, (dict, jinja2.Environment)):
        assert f"({tmp_path / USER})" in str(caught.value)


GOOD = [
    "{{ x is defined }}{{ x }}",
    "{{ x | default('nobody') }}",
    "{% if 'shout' is filter %}{{ language | shout }}{% endif %}",
    "{% set x = 1 %}{{ x }}{% for y in [1] %}{{ y }}{{ loop.index }}{% endfor %}",
    "{% macro x(y) %}{{ y }}{{ caller() }}{% endmacro %}{% call x(1) %}{{ range(2) }}{% endcall %}",
    "{% include 'no such' ignore missing %}",
    "{% include ['no such', 'part'] %}",
    "{% include language %}",
    "{% extends 'outer' %}{% block inner %}{{ of_outer }}{% endblock %}",
    "{% set x = 1 %}{% include 'part' %}",
    "{% from 'part' import y with context %}{{ y }}",
    "{% raw %}{{ nobody }}{% endraw %}{# {{ nobody }} #}",
]


@pytest.mark.parametrize("text", GOOD)
def test_a_template_is_not_refused_for_what_may_be_right(text: str) -> None:
    """What a name is, may depend on the others that a template takes in."""
    beside = {
        "part": "{{ x }}{% set y = 1 %}",
        "outer": "{% set of_outer = 1 %}{% block inner %}{% endblock %}",
    }
    check_templates({USER: SEEN + text, **beside})


def test_an_environment_may_have_filters_and_names_of_its_own() -> None:
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({USER: SEEN + "{{ language | shout }}{{ team }}"}), autoescape=True
    )
    environment.filters["shout"] = str.upper
    environment.globals["team"] = lambda: pytest.fail("a template was rendered")
    check_templates(environment)


def test_an_environment_of_compiled_templates_is_taken_as_it_is(tmp_path: Path) -> None:
    """There is no source to look at."""
    made = jinja2.Environment(loader=jinja2.DictLoader({USER: SEEN}), autoescape=True)
    made.compile_templates(tmp_path, zip=None)
    compiled = jinja2.Environment(loader=jinja2.ModuleLoader(tmp_path), autoescape=True)
    check_templates(compiled)
    assert load_templates(compiled).render(USER, conversation="x") == "x"


def test_a_part_that_is_taken_in_is_looked_through() -> None:
    with pytest.raises(TemplateError, match="template 'part', line 2: ") as caught:
        check_templates({USER: SEEN + "{% include 'part' %}", "part": "\n{{ }}"})
    assert (caught.value.template, caught.value.line) == ("part", 2)


def test_a_prompt_that_cannot_show_the_conversation_is_refused_when_it_is_given() -> None:
    system = "summarize_system.jinja"
    with pytest.raises(TemplateError, match="does not show the conversation"):
        check_templates({USER: "Write the record."})
    check_templates({system: "Write it."})
    check_templates({USER: "Write the record.", system: SEEN})
    check_templates({USER: "{% include 'part' %}", "part": SEEN})
    check_templates({USER: "{% include instructions or 'part' %}", "part": SEEN})


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_copy_of_a_built_in_template_is_taken(name: str) -> None:
    """What it uses is what a template of the caller's may use."""
    check_templates({name: _source_of(name)})


def test_a_template_that_is_right_under_one_name_is_looked_at_under_another() -> None:
    check_templates({USER: SEEN})
    with pytest.raises(TemplateError, match="'conversation' is undefined"):
        check_templates({"repair_note.jinja": SEEN})


def test_a_part_of_the_callers_is_looked_at_each_time() -> None:
    check_templates({USER: SEEN + "{% include 'mine' %}", "mine": "in short"})
    with pytest.raises(TemplateError, match="no filter 'nowhere'"):
        check_templates({USER: SEEN + "{% include 'mine' %}", "mine": "{{ language|nowhere }}"})
