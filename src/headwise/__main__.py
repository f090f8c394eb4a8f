"""`python -m headwise`."""

import sys

from headwise.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
