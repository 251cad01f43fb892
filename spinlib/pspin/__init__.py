r"""The spherical p-spin model at infinite size: free energy, replica symmetry breaking, complexity.

Energy :math:`H=-\sum J_{i_1\dots i_p}\sigma_{i_1}\cdots\sigma_{i_p}` with variance :math:`p!/(2N^{p-1})` of a coupling
and :math:`\sum_i\sigma_i^2=N` (Thesis eqs. (18)-(20)). Energies and free energies are per spin, :math:`k_B=1`, and free
energies leave out the entropy constant :math:`-\frac T2(1+\ln 2\pi)`, as the thesis does.

With :math:`q_0=0` both saddle equations of Thesis eq. (118) separate in :math:`y=(1-q_1)/(1-q_1+xq_1)` (Crisanti and
Sommers 1992). Every number below is a closed form or one bracketed root; the unknown is :math:`w=1-q`, so nothing is
lost as q -> 1.
"""

from spinlib.pspin._model import OneRSB, PSpin
from spinlib.pspin._potential import two_replica_potential

__all__ = ["OneRSB", "PSpin", "two_replica_potential"]
