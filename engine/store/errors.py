"""What the store raises. Driver errors are turned into these once, in ``engine.store.faults``.

No message carries a password, a statement or a row: an open round's secret must reach no log.

Errors::

    Exception
    └── StoreError
        ├── DatabaseUrlUnusable      the address is not one this program can open
        ├── DatabaseTooOld           the server or library is older than what the statements need
        ├── DatabaseNotUtf8          the database cannot hold emoji
        ├── StoreUnavailable         nothing was written; the same unit may be tried again later
        │   ├── DatabaseUnreachable  no connection, or it broke
        │   └── DatabaseBusy         a lock or a connection did not come free in time
        ├── RowRefused               a constraint or a type refuses a value: trying again will not help
        ├── StatementRefused         the database does not understand the program
        ├── SchemaMismatch
        │   ├── NotMigrated          the schema is older than the program
        │   └── NewerSchema          the schema is newer than the program
        └── UnitMisused
            ├── UnitEnded            a unit of work was used after its end
            └── ReadOnlyUnit         a reading unit was asked to write or commit
"""

from __future__ import annotations


class StoreError(Exception):
    """Anything the store could not do."""


class DatabaseUrlUnusable(StoreError):  # noqa: N818 - says what is wrong
    """The address is not one this program can open."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(
            f"the database address {why}; write it as postgresql://USER:PASSWORD@HOST:5432/NAME "
            "or sqlite:////ABSOLUTE/PATH/FILE"
        )


class DatabaseTooOld(StoreError):  # noqa: N818 - says what is wrong
    """The server or library is older than what the statements need."""

    def __init__(self, product: str, found: str, needed: str, where: str) -> None:
        self.product = product
        self.found = found
        self.needed = needed
        self.where = where
        super().__init__(f"{product} {found} at {where} is too old; upgrade it to {needed} or newer")


class DatabaseNotUtf8(StoreError):  # noqa: N818 - says what is wrong
    """The database cannot hold emoji."""

    def __init__(self, encoding: str, where: str) -> None:
        self.encoding = encoding
        self.where = where
        super().__init__(
            f"the database at {where} is encoded in {encoding}, which cannot hold names with emoji; "
            "create another with ENCODING 'UTF8' TEMPLATE template0"
        )


class StoreUnavailable(StoreError):  # noqa: N818 - says what is wrong
    """Nothing was written; the same unit may be tried again later."""

    def __init__(self, where: str, why: str, remedy: str) -> None:
        self.where = where
        self.why = why
        super().__init__(f"{type(self).what} {where} ({why}); {remedy}")

    what = "cannot use the database at"


class DatabaseUnreachable(StoreUnavailable):
    """No connection, or it broke."""

    what = "cannot reach the database at"


class DatabaseBusy(StoreUnavailable):
    """A lock or a connection did not come free in time, or another transaction had to go first."""

    what = "waited in vain for the database at"


class RowRefused(StoreError):  # noqa: N818 - says what happened
    """A constraint or a type refuses a value: trying again will not help. ``constraint`` is empty for a type."""

    def __init__(self, constraint: str, where: str) -> None:
        self.constraint = constraint
        self.where = where
        by = f"constraint {constraint}" if constraint else "the type of a column"
        super().__init__(f"the database at {where} refused a row by {by}; the value is wrong, not the moment")


class StatementRefused(StoreError):  # noqa: N818 - says what happened
    """The database does not understand the program."""

    def __init__(self, code: str, where: str) -> None:
        self.code = code
        self.where = where
        super().__init__(
            f"the database at {where} refused a statement ({code}); "
            "check that `codemojex migrate` has run and that the user may read and write every table"
        )


class SchemaMismatch(StoreError):  # noqa: N818 - says what is wrong
    """Schema and program do not belong together."""


class NotMigrated(SchemaMismatch):
    """The schema is older than the program. ``found`` is None where there is none at all."""

    def __init__(self, found: str | None, needed: str, where: str) -> None:
        self.found = found
        self.needed = needed
        self.where = where
        state = "has no schema yet" if found is None else f"stands at schema {found}"
        super().__init__(f"the database at {where} {state}, this program needs {needed}; run `codemojex migrate`")


class NewerSchema(SchemaMismatch):
    """The schema is newer than the program."""

    def __init__(self, found: str, known: str, where: str) -> None:
        self.found = found
        self.known = known
        self.where = where
        super().__init__(
            f"the database at {where} stands at schema {found}, which this program (up to {known}) does not know; "
            "run the version of the program that made it, or a newer one"
        )


class UnitMisused(StoreError):  # noqa: N818 - says what happened
    """A mistake of the caller, whatever the database."""


class UnitEnded(UnitMisused):
    """A unit of work was used after its end."""

    def __init__(self) -> None:
        super().__init__("this unit of work has ended (committed, rolled back or left); open another one")


class ReadOnlyUnit(UnitMisused):
    """A reading unit was asked to write or commit."""

    def __init__(self) -> None:
        super().__init__("this unit of work only reads; open one with begin() to write")
