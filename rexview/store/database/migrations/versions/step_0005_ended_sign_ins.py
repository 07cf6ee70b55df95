"""Sign-ins that were ended, so that every server that shares the database knows."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; its rows are removed once no cookie is so old."""
    op.create_table(
        "ended_sign_ins",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("forgotten", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Nothing that was written is thrown away."""
    raise NotImplementedError("The history is not thrown away.")
