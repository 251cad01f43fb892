"""Statistics that several test files share. A test of a random number states how many standard errors it allows."""

import numpy as np


def mean_error(values):
    """Mean over the first axis and its standard error, for independent values."""
    values = np.asarray(values)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def z_score(values, expected):
    """Distance of the mean over the first axis from its expectation, in standard errors."""
    mean, error = mean_error(values)
    return (mean - expected) / error


def batch_means(values, batches=20):
    """Mean and standard error of a correlated series (time first), by the spread of the means of its batches."""
    return mean_error(values[: len(values) // batches * batches].reshape(batches, -1).mean(axis=1))
