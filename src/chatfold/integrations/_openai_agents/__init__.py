"""The parts of the integration of the OpenAI Agents SDK, one a file."""
