"""The tests that need a browser are run by `make check-pages`, which sets CHECK_PAGES."""

import os

BROWSER = ["test_check_pages.py", "test_scripts.py", "test_search.py"]
collect_ignore = [] if os.environ.get("CHECK_PAGES") else BROWSER
