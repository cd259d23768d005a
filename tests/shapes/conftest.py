"""Shows the operands of the shared suite's asserts, as in a test file."""

import pytest

pytest.register_assert_rewrite("shapes.conformance")
