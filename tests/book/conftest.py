"""The tests that need a browser are run by `make check-pages`, which sets CHECK_PAGES."""

import os

collect_ignore = [] if os.environ.get("CHECK_PAGES") else ["test_check_pages.py", "test_scripts.py"]
