"""What is known of the results of texts' methods, where only the run tells the text."""

from __future__ import annotations

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import BOOL, INT, Opaque
from .registry import effect, kind

Args = tuple[ir.Operand, ...]
Kwargs = dict[str, ir.Operand]

effect(str.index, str.rindex)  # raise where there is no such part


@kind(
    str.join, str.replace, str.upper, str.lower, str.casefold, str.capitalize, str.title,
    str.swapcase, str.strip, str.lstrip, str.rstrip, str.center, str.ljust, str.rjust, str.zfill,
    str.expandtabs, str.translate, str.removeprefix, str.removesuffix, chr,
)  # fmt: skip
def text(args: Args, kwargs: Kwargs) -> Inferred:
    return Inferred(Opaque(str))


@kind(str.index, str.rindex, str.find, str.rfind, str.count, ord)
def number(args: Args, kwargs: Kwargs) -> Inferred:
    return Inferred(INT)


@kind(
    str.startswith, str.endswith, str.isalnum, str.isalpha, str.isascii, str.isdecimal, str.isdigit,
    str.isidentifier, str.islower, str.isnumeric, str.isprintable, str.isspace, str.istitle,
    str.isupper,
)  # fmt: skip
def fact(args: Args, kwargs: Kwargs) -> Inferred:
    return Inferred(BOOL)
