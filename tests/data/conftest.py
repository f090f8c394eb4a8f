import pytest

from headwise.data.errors import DataError


@pytest.fixture
def write(tmp_path):
    """Write a file of the given contents and return its path as a string."""

    def write(name: str, contents: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return str(path)

    return write


@pytest.fixture
def fails():
    """Call a function and return (code, line, column) of the DataError that it raises."""

    def fails(function, *args, **kwargs) -> tuple[str, int | None, int | None]:
        with pytest.raises(DataError) as caught:
            list(function(*args, **kwargs))
        return caught.value.code, caught.value.line, caught.value.column

    return fails
