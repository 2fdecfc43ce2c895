# SPDX-License-Identifier: BSD-3-Clause
import pytest
from crestacoll_tools.base.sizes import format_amount, format_class, format_size, parse_sizes


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("8", [8]),
        ("8:64", [8, 16, 32, 64]),
        ("8:2K:x4", [8, 32, 128, 512, 2048]),
        ("8:100:x10", [8, 80]),
        ("0:4", [0, 1, 2, 4]),
        ("8,1K,1M", [8, 1024, 1 << 20]),
        ("1k,1KiB, 1KB", [1024]),
        ("4K,8:16,8", [4096, 8, 16]),
        ("2G", [2 << 30]),
    ],
)
def test_sizes_are_read(text, sizes):
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "x", "8:", "16:8", "8:64:x1", "8:64:y2", "-1", "8T", "1.5K"])
def test_a_wrong_size_is_named(text):
    with pytest.raises(ValueError) as e:
        parse_sizes(text)
    assert str(e.value)


@pytest.mark.parametrize(
    "n, text", [(0, "0"), (8, "8"), (1024, "1K"), (1500, "1500"), (2 << 20, "2M")]
)
def test_sizes_are_written(n, text):
    assert format_size(n) == text


@pytest.mark.parametrize(
    "n, text",
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1.00K"),
        (1234567, "1.18M"),
        (10234 << 10, "9.99M"),
        (10235 << 10, "10.0M"),
        (1023 << 20, "1023M"),
        (5 << 40, "5120G"),
    ],
)
def test_amounts_are_rounded(n, text):
    assert format_amount(n) == text


def test_classes_are_written():
    assert format_class(4096, 8191) == "4K-8K"
    assert format_class(0, 0) == "0"
    assert format_class(1 << 30, None) == "1G-inf"
