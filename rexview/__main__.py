"""``python -m rexview``."""

import sys

from rexview.cli import main

if __name__ == "__main__":
    sys.exit(main())
