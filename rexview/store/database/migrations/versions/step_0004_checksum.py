"""A checksum in each row, so that a row that is changed is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; rows from before have none."""
    op.add_column("history", sa.Column("checksum", sa.Text))


def downgrade() -> None:
    """Nothing that was written is thrown away."""
    raise NotImplementedError("The history is not thrown away.")
