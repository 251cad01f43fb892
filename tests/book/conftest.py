"""The test of the check of the built pages needs a browser: `make check-pages` runs it, and sets CHECK_PAGES."""

import os

collect_ignore = [] if os.environ.get("CHECK_PAGES") else ["test_check_pages.py"]
