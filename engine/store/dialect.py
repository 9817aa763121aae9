"""What the two dialects say differently: ``ON CONFLICT``, many rows at once, one of many values.

PostgreSQL gets many values as arrays, one a column: its statement is then the same for every number of rows, so it
is prepared once, and it is also the fastest way in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Table, any_, bindparam, column, func, select
from sqlalchemy.dialects import postgresql, sqlite

POSTGRESQL: Final = "postgresql"
SQLITE: Final = "sqlite"

Insert = postgresql.Insert | sqlite.Insert
Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def insert(dialect: str, table: Table) -> Insert:
    """An insert into ``table`` that has ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return postgresql.insert(table) if dialect == POSTGRESQL else sqlite.insert(table)


def insert_rows(dialect: str, table: Table, rows: Sequence[Mapping[str, Any]]) -> tuple[Insert, Values]:
    """An insert of ``rows`` (at least one, all with the same columns), and the values to run it with.

    The rows go in one after the other, in the order given.
    """
    if dialect != POSTGRESQL:
        return sqlite.insert(table), rows
    columns = [table.c[name] for name in rows[0]]
    source = (
        func.unnest(*(bindparam(_parameter(each), type_=_array(each)) for each in columns))
        .table_valued(*(column(each.name, each.type) for each in columns))
        .render_derived()
    )
    statement = postgresql.insert(table).from_select([each.name for each in columns], select(*source.c))
    return statement, {_parameter(each): [row[each.name] for row in rows] for each in columns}


def one_of(dialect: str, wanted: Column[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """Whether a column holds one of ``values``."""
    if dialect != POSTGRESQL:
        return wanted.in_(values)
    return wanted == any_(bindparam(None, list(values), type_=_array(wanted)))


def one_of_given(dialect: str, wanted: Column[Any], name: str) -> ColumnElement[bool]:
    """Whether a column holds one of the values that the parameter ``name`` will have: for statements built once."""
    if dialect != POSTGRESQL:
        return wanted.in_(bindparam(name, expanding=True))
    return wanted == any_(bindparam(name, type_=_array(wanted)))


def _parameter(each: Column[Any]) -> str:
    return f"all_{each.name}"


def _array(each: Column[Any]) -> postgresql.ARRAY[Any]:
    # One dimension, said aloud: a column whose value is a tuple would else be taken for more.
    return postgresql.ARRAY(each.type, dimensions=1)
