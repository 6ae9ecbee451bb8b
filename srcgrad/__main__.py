"""`python -m srcgrad` is the program `srcgrad`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
