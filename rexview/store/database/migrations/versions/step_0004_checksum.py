"""Add a checksum to each row, so that changed rows are detected."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; older rows have no checksum."""
    op.add_column("history", sa.Column("checksum", sa.Text))


def downgrade() -> None:
    """Do nothing: no entries are thrown away."""
    raise NotImplementedError("The history is not thrown away.")
