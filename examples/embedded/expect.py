"""Assertions that the scenario scripts share."""


def raises(kinds, action):
    """action must raise one of kinds; returns the exception."""
    try:
        result = action()
    except kinds as failure:
        return failure
    raise AssertionError(f"expected {kinds}, got the result {result!r}")


def same_rows(got, want):
    """Two arrow tables hold equal rows in equal order under equal column names, whatever their string widths are."""
    assert got.column_names == want.column_names, (got.column_names, want.column_names)
    assert got.num_rows == want.num_rows, (got.num_rows, want.num_rows)
    for position, (one, other) in enumerate(zip(got.to_pylist(), want.to_pylist())):
        assert one == other, f"row {position}: {one} is not {other}"
