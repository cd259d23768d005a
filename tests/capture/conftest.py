"""The server for all tests of capturing."""

import pytest
from capture.stream_server import _running, stream_server

__all__ = ["_running", "stream_server"]

pytest.register_assert_rewrite("capture.native_servers")
