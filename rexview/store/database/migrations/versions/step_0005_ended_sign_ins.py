"""Store ended sign-ins for all servers that share the database."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; its rows are removed once no cookie can be that old."""
    op.create_table(
        "ended_sign_ins",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("forgotten", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Do nothing: no entries are thrown away."""
    raise NotImplementedError("The history is not thrown away.")
