"""Hypothesis: the same examples in every run, unless HYPOTHESIS_PROFILE=random (the weekly job)."""

import os

import hypothesis

# A commit must not turn red by a draw of luck, so the examples are fixed; new ones are tried once a week.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("random", derandomize=False, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
