"""The reference values of tests/golden.json: the law of AGeo, beta under both sanitisers, expected errors."""

from __future__ import annotations

import math

import pytest
from tests.support.golden import golden

from takagi import bounds
from takifugu.mechanisms.one_sided.answers import at_most, sanitiser
from takifugu.mechanisms.one_sided.tails import count_noise

WHOLE, REAL = golden()["asymmetric"]["AGeo"], golden()["asymmetric"]["ALap"]


@pytest.mark.parametrize("epsilon", WHOLE)
def test_the_law_of_ageo(epsilon):
    reference = WHOLE[epsilon]
    made = bounds.tight_matrix(reference["n"], epsilon)
    for count, law in reference["table"].items():
        for z in range(reference["n"] + 1):
            assert made[int(count), z] == pytest.approx(float(law.get(str(z), 0)), rel=1e-11, abs=1e-15)
    assert bounds.noise_loss([-1], [1], 1) == pytest.approx(float(reference["max_log_ratio_forward"]))
    assert reference["reverse"].startswith("inf")
    assert bounds.noise_loss([1], [1], 1) == math.inf
    assert bounds.truncated_error(0, reference["n"], epsilon) == pytest.approx(
        float(reference["mean_abs_error_m0"]), rel=1e-11
    )


@pytest.mark.parametrize("epsilon", WHOLE)
def test_beta_of_both_laws(epsilon):
    reference = WHOLE[epsilon]
    whole, real = (sanitiser(at_most(reference["t"]), count_noise(epsilon, whole=w)) for w in (True, False))
    for m, beta in reference["beta_by_true_count"].items():
        assert whole.beta(int(m)) == pytest.approx(float(beta), rel=1e-11)
        assert real.beta(int(m)) == pytest.approx(float(REAL[epsilon]["beta_sanitizer_z_lt_t_plus_1"][m]), rel=1e-11)
        printed = float(REAL[epsilon]["beta_sanitizer_z_le_t"][m])
        assert bounds.printed_beta(reference["t"], int(m), epsilon) == pytest.approx(printed, rel=1e-11, abs=1e-15)
        claimed = float(REAL[epsilon]["claimed_by_cor_V6"][m])
        assert bounds.enough_epsilon(claimed, reference["t"] + 1 - int(m)) == pytest.approx(float(epsilon), rel=1e-8)
    assert whole.alpha == real.alpha == 0


@pytest.mark.parametrize("epsilon", REAL)
def test_the_real_law(epsilon):
    reference = REAL[epsilon]
    assert count_noise(epsilon, whole=False).mean_error() == float(reference["expected_abs_error"])
    assert bounds.noise_loss([-1], [1], count_noise(epsilon).scale) == float(reference["density_log_ratio_forward"])
