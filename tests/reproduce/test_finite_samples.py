"""Stored experiments: a point computed again, equilibrium of what is stored, the command line, refusals."""

import numpy as np
import pytest

from spinlib import reproduce
from spinlib.pspin import PSpin
from spinlib.reproduce import _store, load, run
from spinlib.reproduce._experiments import finite_samples
from spinlib.pspin.simulation import gaussian_couplings, overlap, parallel_tempering
from stats import mean_error


@pytest.fixture(scope="module")
def stored():
    return load("pspin_equilibrium")


def child(k, n=32):
    """The generator of sample k of size n with rng=0, as the experiment makes it."""
    sizes = list(finite_samples.FULL)
    return np.random.default_rng(0).spawn(len(sizes))[sizes.index(n)].spawn(k + 1)[k]


def test_the_stored_file_is_small_and_says_how_it_was_made(stored):
    assert (_store.DATA / "pspin_equilibrium.npz").stat().st_size < 1e6
    about = reproduce.about("pspin_equilibrium")
    assert about["full"] is True and about["rng"] == 0 and about["figure"] == "pspin_equilibrium"
    assert "about" not in stored and about["points"] == sum(
        samples for samples, _ in finite_samples.FULL.values()
    )
    assert about["seconds"] > 0 and about["numpy"] and about["python"]
    for n, (samples, sweeps) in finite_samples.FULL.items():
        assert (
            stored[f"energy_{n}"].shape == (samples, len(stored[f"T_{n}"]))
            and stored[f"sweeps_{n}"][-1] == sweeps
        )
        assert (np.diff(stored[f"T_{n}"]) > 0).all() and np.abs(
            np.diff(1 / stored[f"T_{n}"])
        ).max() <= 1.1 / np.sqrt(n)
        for which in ("", "_random", "_minimum"):
            assert np.allclose(
                stored[f"histogram{which}_{n}"].sum(axis=-1) * np.diff(stored["bins"])[0],
                1,
                atol=1e-5,
            )


@pytest.mark.slow
@pytest.mark.parametrize("n, k", [(32, 0), (32, 5), (32, 100), (64, 10)])
def test_the_first_sweeps_of_a_stored_sample_come_out_again(stored, n, k):
    """Digit by digit as long as chaos allows; a later run differs between machines."""
    again = finite_samples.one_sample(child(k, n), n, 8)
    for start in ("random", "minimum"):
        assert (
            np.abs(again[f"defect_{start}"][0] - stored[f"defect_{start}_{n}"][k, 0]).max() < 1e-7
        )
        assert (
            np.abs(again[f"defect_{start}"][0] - stored[f"defect_{start}_{n}"][k + 1, 0]).max()
            > 1e-2
        )


@pytest.mark.slow
def test_the_energy_of_a_stored_sample_comes_out_again_with_another_seed(stored):
    """Same couplings, new dynamics: within 4 standard errors; the same bound rejects more than nine in ten of the
    other 127 samples."""
    rng = child(3)
    T = stored["T_32"]
    found = (
        parallel_tempering(gaussian_couplings(32, 3, rng=rng), T, n_sweeps=500, n_copies=8, rng=12)
        .energy[100:]
        .mean(axis=0)
    )
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(8)
    z = (mean - stored["energy_32"][3]) / np.hypot(error, stored["energy_error_32"][3])
    assert (np.abs(z) < 4).all()
    other = (mean - stored["energy_32"]) / np.hypot(error, stored["energy_error_32"])
    assert (np.abs(np.delete(other, 3, axis=0)).max(axis=1) > 4).mean() > 0.9


@pytest.mark.parametrize("n", [32, 64])
def test_identity_of_equilibrium_passes_late_and_fails_early(stored, n):
    """E e = -(beta/2)(1 - E<q^3>) at every temperature, from both starts;
    the first sweeps miss it with opposite signs."""
    T = stored[f"T_{n}"]
    mean, error = mean_error(stored[f"energy_{n}"] + 0.5 / T * (1 - stored[f"moment_{n}"]))
    assert (np.abs(mean) < 4 * error).all() and error.max() < 0.06
    for start, sign in (("random", 1), ("minimum", -1)):
        mean, error = mean_error(stored[f"defect_{start}_{n}"])
        assert (np.abs(mean[-1]) < 4 * error[-1]).all()
        assert (sign * mean[0] > 5 * error[0])[T < 0.7].all()


def test_weights_of_states_belong_to_the_sample_and_fluctuate_as_one_step_says(stored):
    """Share Y of overlaps above 0.4, asked twice: the answers agree, and Var Y is m (1 - m) / 3 for mean m,
    from below."""
    right = stored["bins"][1:] > 0.41
    for n in (32, 64):
        k = np.abs(stored[f"T_{n}"] - 0.4).argmin()
        first, second = (
            stored[f"histogram_{start}_{n}"][:, k, right].sum(axis=-1) * 0.04
            for start in ("random", "minimum")
        )
        assert np.corrcoef(first, second)[0, 1] > 0.9
        m = (first.mean() + second.mean()) / 2
        assert (
            0.4 < m < 0.7
            and 0.5 * m * (1 - m) / 3 < np.cov(first, second)[0, 1] < 1.3 * m * (1 - m) / 3
        )


def test_each_test_of_equilibrium_alone_is_fooled_in_the_stored_run(stored):
    """N = 64, T = 0.5: in sweeps 16 to 32 one defect is near zero and the starts differ;
    in 64 to 128 they agree and both are wrong."""
    k = np.abs(stored["T_64"] - 0.5).argmin()
    hot, cold = stored["defect_random_64"][:, :, k], stored["defect_minimum_64"][:, :, k]
    z = lambda values: np.divide(*mean_error(values))
    assert abs(z(cold[:, 3])) < 3 and z(hot[:, 3] - cold[:, 3]) > 4
    assert abs(z(hot[:, 5] - cold[:, 5])) < 3 and z(hot[:, 5]) > 3 and z(cold[:, 5]) > 3


def test_both_starts_end_in_the_same_equilibrium_sample_by_sample(stored):
    for n in (32, 64):
        mean, error = mean_error(
            (stored[f"defect_random_{n}"] - stored[f"defect_minimum_{n}"])[:, -1]
        )
        assert (np.abs(mean) < 4 * error).all() and error.max() < 0.04


def test_energy_approaches_the_solution_at_infinite_size(stored):
    """High temperature: within 5 errors plus order 1/N. Low temperature: from above, and closer at N = 64."""
    T = np.array([0.4, 0.5, 1.0])
    exact = np.array([PSpin(3).solve(t).energy for t in T])
    gap = {}
    for n in (32, 64):
        mean, error = mean_error(stored[f"energy_{n}"])
        at = [np.abs(stored[f"T_{n}"] - t).argmin() for t in T]
        gap[n], error = mean[at] - exact, error[at]
        assert abs(gap[n][2]) < 5 * error[2] + 0.2 / n
        assert (gap[n][:2] > 0).all() and (gap[n][:2] < 4 / n).all()
    assert (gap[64][:2] < gap[32][:2]).all()


def test_what_a_sample_returns_is_computed_another_way(monkeypatch):
    """The run of the sampler is caught, and the last half of it counted sweep by sweep, copy by copy."""
    caught = []
    real = finite_samples.parallel_tempering
    monkeypatch.setattr(
        finite_samples,
        "parallel_tempering",
        lambda *a, **k: caught.append(real(*a, **k)) or caught[-1],
    )
    one = finite_samples.one_sample(np.random.default_rng(0), 8, 16)
    run_, n_T = caught[0], 7
    for k in range(n_T):
        copies = [sum(run_.energy[t, c, k] for t in range(8, 16)) / 8 for c in range(8)]
        mean = sum(copies) / 8
        assert one["energy"][k] == pytest.approx(mean, rel=1e-12)
        assert one["energy_error"][k] == pytest.approx(
            np.sqrt(sum((c - mean) ** 2 for c in copies) / 7 / 8), rel=1e-12
        )
        q = [run_.overlap[t, pair, k] for t in range(8, 16) for pair in range(28)]
        assert one["moment"][k] == pytest.approx(sum(x * x * x for x in q) / len(q), rel=1e-12)
        counts = [
            sum(a <= x < b for x in q) for a, b in zip(finite_samples.BINS, finite_samples.BINS[1:])
        ]
        np.testing.assert_allclose(
            one["histogram"][k], np.array(counts) / len(q) / 0.04, atol=1e-12
        )
    # and the run itself is of these couplings: its last energies and overlaps are those of its last spins
    couplings = gaussian_couplings(8, 3, rng=np.random.default_rng(0))
    np.testing.assert_allclose(couplings.energy(run_.s) / 8, run_.energy[-1], rtol=1e-10)
    pairs = [overlap(run_.s[a], run_.s[b]) for a in range(8) for b in range(a + 1, 8)]
    np.testing.assert_allclose(pairs, run_.overlap[-1], atol=1e-12)


def test_refusals(tmp_path, monkeypatch):
    with pytest.raises(
        ValueError, match="no experiment 'fig99'; choose one of: .*pspin_equilibrium"
    ):
        run("fig99")
    with pytest.raises(ValueError, match="no experiment"):
        load("fig99")
    monkeypatch.setattr(_store, "DATA", tmp_path)
    with pytest.raises(
        FileNotFoundError,
        match="SPINLIB_DATA.*python -m spinlib.reproduce pspin_equilibrium --full",
    ):
        load("pspin_equilibrium")


def test_stored_files_are_found_where_they_are(tmp_path, monkeypatch):
    """From a wheel there is no repository around the package: a folder, or the environment,
    says where the files are."""
    real = _store.DATA
    monkeypatch.setattr(_store, "DATA", tmp_path)
    assert (
        load("pspin_equilibrium", real)["energy_64"].shape
        == load("pspin_equilibrium", str(real))["energy_64"].shape
    )
    monkeypatch.setenv("SPINLIB_DATA", str(real))
    assert load("pspin_equilibrium")["energy_64"].shape == (finite_samples.FULL[64][0], 13)
    with pytest.raises(FileNotFoundError):
        load("pspin_equilibrium", tmp_path)
