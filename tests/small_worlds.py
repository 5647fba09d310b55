"""Small worlds of any seed, for tests of what holds in every world."""

from hypothesis import settings
from hypothesis import strategies as st

SMALL = {
    "country": (4, 4),
    "city": (12, 10),
    "award": (4, 4),
    "person": (40, 28),
    "film": (24, 14),
    "book": (16, 10),
    "company": (14, 9),
    "team": (8, 5),
}
seeds = st.integers(-(2**70), 2**70)
few = settings(max_examples=15)
