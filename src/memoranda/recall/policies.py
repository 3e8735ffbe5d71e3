"""Policies: how sure recall must be before it answers.

The scales were fitted on questions of which half were asked of the wrong memory: the relevance of a best hit is about
the share of such hits that came from the right one. `docs/guides/recall.md` shows what each policy answers.
"""

from collections.abc import Sequence

from memoranda.domain.request import Lane, Policy
from memoranda.recall.evidence import Scale

HYBRID = Scale(middle=0.42, steepness=9.0, per_fold=0.05)
WORDS_ONLY = Scale(middle=0.42, steepness=9.0, per_fold=0.04)
MEANING_ONLY = Scale(middle=0.60, steepness=9.0, per_fold=0.05)

BARS: dict[Policy, float] = {"strict": 0.5, "balanced": 0.18, "broad": 0.0}
# Beside a good answer, what is far behind it is not one.
BEHIND: dict[Policy, float] = {"strict": 0.6, "balanced": 0.2, "broad": 0.0}


def scale_of(lanes: Sequence[Lane]) -> Scale:
    """Each set of lanes has its own scale: words alone prove less than words and meaning together."""
    if "lexical" in lanes and "semantic" in lanes:
        return HYBRID
    return MEANING_ONLY if "semantic" in lanes else WORDS_ONLY
