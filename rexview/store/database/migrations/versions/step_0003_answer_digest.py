"""Store the digest of the answer with each entry, and a blinding key for each set."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty in older rows, and the table of secrets."""
    op.add_column("history", sa.Column("answer_digest", sa.Text))
    op.create_table(
        "secrets",
        sa.Column("review_set", sa.Text, primary_key=True),
        sa.Column("letters", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Do nothing: no entries are thrown away."""
    raise NotImplementedError("The history is not thrown away.")
