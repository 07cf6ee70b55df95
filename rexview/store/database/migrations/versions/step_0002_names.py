"""Store the author's name and role with each entry."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both columns; older rows have none."""
    op.add_column("history", sa.Column("person_name", sa.Text))
    op.add_column("history", sa.Column("person_role", sa.Text))


def downgrade() -> None:
    """Do nothing: no entries are thrown away."""
    raise NotImplementedError("The history is not thrown away.")
