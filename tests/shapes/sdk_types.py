"""The SDKs' typed unions: their members, and instances of them built from the annotations.

Belongs here: what walks the installed SDKs' types. Nothing here knows chatfold, or one provider.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import ReadOnly, TypeAliasType, get_type_hints, is_typeddict

__all__ = [
    "CONVERSE_MESSAGE",
    "Member",
    "ServiceShape",
    "instance",
    "members",
    "model_instance",
    "refusal",
    "union_named",
]

_MODELS_AS_INPUT = ("ollama",)  # SDKs without a TypedDict for what they send
_DEEPEST = 6  # levels of nesting to fill in; deeper optional fields are left out
_TEXTS = {
    "id": "item_1",
    "call_id": "call_1",
    "tool_use_id": "toolu_1",
    "data": "aGk=",
    "file_data": "aGk=",
    "url": "https://example.com/a.png",
}


@dataclass(frozen=True)
class Member:
    """One member of a typed union.

    Attributes:
        cls: The TypedDict or the pydantic model.
        label: Its `type`, its role where it has no type, else its name.
    """

    cls: type[Any]
    label: str

    @property
    def is_model(self) -> bool:
        return not is_typeddict(self.cls)


@cache
def _service(name: str) -> Any:
    """Return botocore's model of a service; to find and read its file takes 0.03 s each time."""
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    return ServiceModel(Loader().load_service_model(name, "service-2"))


@dataclass(frozen=True)
class ServiceShape:
    """A shape of a service model of botocore, which stands for a type where there is none.

    Attributes:
        service: Name of the service.
        name: Name of the shape.
    """

    service: str
    name: str

    @property
    def shape(self) -> Any:
        """The shape as botocore has it."""
        return _service(self.service).shape_for(self.name)

    def refusal(self, value: Any) -> str:
        """Return why botocore would not send `value`, "" where it would."""
        from botocore.validate import ParamValidator

        report = ParamValidator().validate(value, self.shape)
        return str(report.generate_report()) if report.has_errors() else ""


CONVERSE_MESSAGE = ServiceShape("bedrock-runtime", "Message")


def union_named(path: str) -> Any:
    """Return the union at `module:name`, None where the installed SDK has none."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


def members(union: Any) -> list[Member]:
    """Return the TypedDicts and models of a union, nested unions included, each once."""
    found = {cls: Member(cls, _label(cls)) for cls in _classes(union)}
    return list(found.values())


def _classes(annotation: Any) -> Iterator[type[Any]]:
    annotation = _unnamed(annotation)
    origin = get_origin(annotation)
    if origin in (Annotated, Required, NotRequired, ReadOnly):
        yield from _classes(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for inner in get_args(annotation):
            yield from _classes(inner)
    elif isinstance(annotation, type) and (is_typeddict(annotation) or _is_model(annotation)):
        yield annotation


def _label(cls: type[Any]) -> str:
    fields = _fields(cls)
    for key in ("type", "role"):
        values = _literals(fields.get(key, (None, False))[0])
        if values:
            return str(values[0])
    return cls.__name__


def _literals(annotation: Any) -> tuple[Any, ...]:
    annotation = _bare(annotation)[0]
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(v for inner in get_args(annotation) for v in _literals(inner))
    return ()


def instance(cls: type[Any], *, full: bool = False) -> dict[str, Any]:
    """Return an instance of a TypedDict or of a model, as a dict with the wire's names.

    Args:
        cls: The class.
        full: Whether the optional fields are set, too.
    """
    return _object(cls, full, 0)


def model_instance(cls: type[Any], *, full: bool = False) -> Any:
    """Return an instance of a pydantic model, built as the SDKs build theirs."""
    return cls.model_validate(_object(cls, full, 0))


def _object(cls: type[Any], full: bool, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, (annotation, required) in _fields(cls).items():
        if required or (full and depth < _DEEPEST):
            made[key] = _value(key, annotation, full, depth + 1)
    return made


def _is_model(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, BaseModel)


def _fields(cls: type[Any]) -> dict[str, tuple[Any, bool]]:
    """Return for each field its annotation and whether it is required, by its name on the wire."""
    if _is_model(cls):
        return {
            field.alias or name: (field.annotation, field.is_required())
            for name, field in cls.model_fields.items()
        }
    hints = get_type_hints(cls, include_extras=True)
    total = getattr(cls, "__total__", True)
    found: dict[str, tuple[Any, bool]] = {}
    for name, hint in hints.items():
        bare, required, alias = _bare(hint)
        found[alias or name] = (bare, total if required is None else required)
    return found


def _bare(annotation: Any) -> tuple[Any, bool | None, str | None]:
    """Return an annotation without its marks, whether it is required, and its alias."""
    required: bool | None = None
    alias: str | None = None
    while True:
        annotation = _unnamed(annotation)
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *extras = get_args(annotation)
            alias = next((e.alias for e in extras if getattr(e, "alias", None)), alias)
        elif origin in (Required, NotRequired):
            required = origin is Required
            annotation = get_args(annotation)[0]
        elif origin is ReadOnly:
            annotation = get_args(annotation)[0]
        else:
            return annotation, required, alias


def _unnamed(annotation: Any) -> Any:
    """Return what a named type stands for, with its own arguments."""
    if isinstance(annotation, TypeAliasType):
        return _unnamed(annotation.__value__)
    origin = get_origin(annotation)
    if isinstance(origin, TypeAliasType):
        return _unnamed(origin.__value__[get_args(annotation)])
    return annotation


def _value(key: str, annotation: Any, full: bool, depth: int) -> Any:
    annotation = _bare(annotation)[0]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return args[0]
    if origin in (Union, types.UnionType):
        wanted = [a for a in args if a is not type(None)]
        return _value(key, wanted[0], full, depth)
    if is_typeddict(annotation) or _is_model(annotation):
        return _object(annotation, full, depth)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if annotation is str:
        return _TEXTS.get(key, "text")
    if annotation in (dict, object, Any) or origin in (dict, Mapping) or _is_mapping(origin):
        if args and depth < _DEEPEST:
            return {"key": _value("key", args[1], full, depth + 1)}
        return {}
    if args:  # a list, an iterable, a SequenceNotStr
        return [_value(key, args[0], full, depth + 1)] if depth < _DEEPEST else []
    raise TypeError(f"no value for {key}: {annotation!r}")


_SCALARS: dict[Any, Any] = {int: 1, float: 1.0, bool: True, type(None): None}


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def refusal(annotation: Any, value: Any, where: str = "item") -> str:
    """Return why `value` is not of a type, "" where it is; unknown keys are refused.

    Pydantic would do, but 2.14.3 panics when an `Iterable` of a recursive TypedDict is read
    (`ResponseToolSearchOutputItemParam.tools`), and the SDKs' unions are full of iterables.
    """
    if isinstance(annotation, ServiceShape):
        return annotation.refusal(value)
    annotation = _bare(annotation)[0]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "" if value in args else f"{where}: {value!r} is none of {args}"
    if origin in (Union, types.UnionType):
        found = [refusal(inner, value, where) for inner in args]
        return "" if "" in found else max(found, key=lambda text: text.count("."))
    if is_typeddict(annotation):
        return _refused_object(annotation, value, where)
    if _is_model(annotation):
        if isinstance(value, Mapping) and annotation.__module__.startswith(_MODELS_AS_INPUT):
            return _refused_object(annotation, value, where)
        return "" if isinstance(value, annotation) else f"{where}: no {annotation.__name__}"
    if annotation in (object, Any):
        return ""
    if _is_mapping(origin) or annotation is dict:
        return "" if isinstance(value, Mapping) else f"{where}: {value!r} is no mapping"
    if args:
        if isinstance(value, (str, Mapping)) or not isinstance(value, (list, tuple)):
            return f"{where}: {value!r} is no list"
        found = [refusal(args[0], inner, f"{where}.{n}") for n, inner in enumerate(value)]
        return next(filter(None, found), "")
    wanted = (int, float) if annotation is float else annotation
    return "" if isinstance(value, wanted) else f"{where}: {value!r} is no {annotation}"


def _refused_object(cls: type[Any], value: Any, where: str) -> str:
    if not isinstance(value, Mapping):
        return f"{where}: {type(value).__name__} is no {cls.__name__}"
    fields = _fields(cls)
    unknown = sorted(set(value) - set(fields))
    missing = sorted(k for k, (_, required) in fields.items() if required and k not in value)
    if unknown or missing:
        return f"{where}.{cls.__name__}: unknown keys {unknown}, missing keys {missing}"
    found = [refusal(fields[k][0], inner, f"{where}.{k}") for k, inner in value.items()]
    return next(filter(None, found), "")
