"""Create the history: rows are added, never changed or removed."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_REFUSED = "the history is only added to"
_SQLITE = (
    f"""
    CREATE TRIGGER history_no_update BEFORE UPDATE ON history
    BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END
    """,
    f"""
    CREATE TRIGGER history_no_delete BEFORE DELETE ON history
    BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END
    """,
    # INSERT OR REPLACE removes the old row without firing the trigger above
    f"""
    CREATE TRIGGER history_no_replace BEFORE INSERT ON history
    WHEN EXISTS (SELECT 1 FROM history WHERE token = NEW.token OR id = NEW.id)
    BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END
    """,  # noqa: S608
)
_POSTGRESQL = (
    f"""
    CREATE FUNCTION history_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '{_REFUSED}'; END $$
    """,
    """
    CREATE TRIGGER history_no_change BEFORE UPDATE OR DELETE ON history
    FOR EACH ROW EXECUTE FUNCTION history_refuse()
    """,
    """
    CREATE TRIGGER history_no_truncate BEFORE TRUNCATE ON history
    FOR EACH STATEMENT EXECUTE FUNCTION history_refuse()
    """,
)


def upgrade() -> None:
    """Create the table and the triggers that protect its rows."""
    op.create_table(
        "history",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("token", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("review_set", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("case_id", sa.Text),
        sa.Column("model_id", sa.Text),
        sa.Column("subject", sa.Text),
        sa.Column("picture", sa.Integer),
        sa.Column("value", sa.JSON),
        sa.Column("previous", sa.JSON),
        sa.Column("via", sa.Text, nullable=False),
        sa.UniqueConstraint("token", name="uq_history_token"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_history_review_set_id", "history", ["review_set", "id"])
    op.create_index(
        "ix_history_review_set_kind_case_id", "history", ["review_set", "kind", "case_id"]
    )
    dialect = op.get_context().dialect.name
    for statement in _SQLITE if dialect == "sqlite" else _POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    """Do nothing: no entries are thrown away."""
    raise NotImplementedError("The history is not thrown away.")
