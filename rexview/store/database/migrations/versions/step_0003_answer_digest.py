"""Entries say which answer they are of; each set has a secret that keys the letters of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, which rows from before have empty, and the table of secrets."""
    op.add_column("history", sa.Column("answer_digest", sa.Text))
    op.create_table(
        "secrets",
        sa.Column("review_set", sa.Text, primary_key=True),
        sa.Column("letters", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Nothing that was written is thrown away."""
    raise NotImplementedError("The history is not thrown away.")
