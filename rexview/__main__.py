"""``python -m rexview``."""

import sys

try:
    from rexview.cli import main
except ModuleNotFoundError as error:  # before any command could say so
    if str(error.name).partition(".")[0] == "rexview":
        raise
    sys.exit(f"The package {error.name} is not installed. Run: pip install -r requirements.txt")

if __name__ == "__main__":
    sys.exit(main())
