from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pytest

from headwise.data.files.table_cells import cell_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" as it is ", " as it is "),
        (None, ""),
        (True, "TRUE"),
        (False, "FALSE"),
        (3, "3"),
        (3.0, "3"),
        (-0.5, "-0.5"),
        (0.1 + 0.2, "0.3"),
        (1e20, "1e+20"),
        (date(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1, 9, 30), "2024-03-01 09:30:00"),
        (time(9, 30), "09:30:00"),
        (timedelta(hours=30), "1 day, 6:00:00"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_values_as_text(value, text):
    assert cell_text(value) == text
