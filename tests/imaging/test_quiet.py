"""Decoders are kept quiet without deafening anybody else."""

import logging
import threading
import warnings

import pytest
from pydicom.config import WARN
from pydicom.valuerep import validate_value

from rexview.imaging.limits import silence_decoders


def test_pydicom_is_quiet_inside_and_heard_outside():
    with silence_decoders():
        validate_value("CS", "a value of the file", WARN)
    with pytest.warns(UserWarning, match="Invalid value"):
        validate_value("CS", "a value of the file", WARN)


def test_others_are_heard_inside():
    with silence_decoders(), pytest.warns(UserWarning, match="ours"):
        warnings.warn("ours", stacklevel=1)


def test_log_lines_of_decoders_are_dropped(caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("pydicom", "pydicom.pixels.decoders.base", "PIL.TiffImagePlugin", "openjpeg"):
        logging.getLogger(name).error("a value of the file")
    logging.getLogger("rexview").error("ours")
    assert [record.message for record in caplog.records] == ["ours"]


def test_filters_are_as_before_whatever_order_threads_leave_in():
    before = list(warnings.filters)
    entered, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def block(number):
        with silence_decoders():
            entered.wait()
            leave[number].wait()

    threads = [threading.Thread(target=block, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    entered.wait()
    assert warnings.filters != before
    for number in (0, 1):
        assert len(warnings.filters) == len(before) + 1
        leave[number].set()
        threads[number].join()
    assert warnings.filters == before


def test_filters_come_back_after_an_error():
    before = list(warnings.filters)
    with pytest.raises(KeyError), silence_decoders(), silence_decoders():
        raise KeyError
    assert warnings.filters == before
