"""Shows the operands of the shared suite's asserts, as in a test file; a local server."""

import pytest
from fake_server import llm_server

__all__ = ["llm_server"]

pytest.register_assert_rewrite("shapes.conformance")
