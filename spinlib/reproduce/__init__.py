"""The numbers behind a figure: one experiment each, quick for a page or full for a file in spinlib/data.

``python -m spinlib.reproduce --list`` names them, and ``python -m spinlib.reproduce amp_variances --full --jobs 2``
computes one: amp_variances.npz, .json (how it was made) and .png. Each point of a sweep has its own seed and is kept as
soon as it is finished: the numbers depend neither on the number of jobs nor on interruptions. On a cluster the points
go to the workers of joblib's backend of dask or ray, and the calling process alone writes files::

    import dask.distributed, joblib
    from spinlib import reproduce

    dask.distributed.Client("scheduler:8786")            # for ray: ray.util.joblib.register_ray()
    with joblib.parallel_config(backend="dask"):          # for ray: backend="ray"
        reproduce.save("amp_variances", "results", full=True, jobs=64)
"""

from spinlib.reproduce._run import names, run
from spinlib.reproduce._store import about, load, prose, save

__all__ = ["about", "load", "names", "prose", "run", "save"]
