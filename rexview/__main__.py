"""``python -m rexview``."""

import sys
from pathlib import Path

try:
    from rexview.cli import main
except ModuleNotFoundError as error:  # before any command could report it
    if str(error.name).partition(".")[0] == "rexview":
        raise
    said = f"The package {error.name} is not installed for {sys.executable}."
    own = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "python"
    if own.exists() and Path(sys.prefix) != own.parents[1]:
        sys.exit(f"{said} Run: {own} -m rexview, or activate .venv first.")
    sys.exit(f"{said} Run: {sys.executable} -m pip install -r requirements.txt")

if __name__ == "__main__":
    sys.exit(main())
