"""The summarizers behind "openai:<model>" and "anthropic:<model>".

Their clients take key and address from the environment, as the SDKs do; who makes a client closes
it, so each lives for one request.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from chatfold.errors import MissingExtraError, SummarizerError
from chatfold.summarizers._sdk import Family, SDKSummarizer, got_async
from chatfold.summarizers.anthropic import AnthropicSummarizer
from chatfold.summarizers.openai import OpenAISummarizer

if TYPE_CHECKING:
    from chatfold.core.flow import Completion
    from chatfold.core.render import Prompt

__all__ = ["NamedSummarizer"]


class NamedSummarizer:
    """Summarizes with a model that was given by name.

    Args:
        family: The SDK.
        model: Name of the model.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit.
        retries: How often the SDK repeats a request that failed.
        asynchronous: Which of the SDK's clients to make.

    Raises:
        MissingExtraError: The SDK is not installed.
        SummarizerError: The SDK finds no API key.
    """

    def __init__(
        self,
        family: Family,
        model: str,
        *,
        timeout: float | None,
        retries: int,
        asynchronous: bool,
    ) -> None:
        self.family = family
        self.model = model
        self.timeout = timeout
        self.retries = retries
        self.asynchronous = asynchronous
        # Made now, so that a missing SDK or key is known before the prompt is written.
        self._spare: Any = self._new_client()

    @property
    def client(self) -> Any:
        """The client of the first request, until that is sent; then None."""
        return self._spare

    def __repr__(self) -> str:
        return f"NamedSummarizer('{self.family}:{self.model}')"

    def complete(self, prompt: Prompt) -> Completion:
        """Ask the model and wait for its answer.

        Raises:
            SummarizerError: The request failed; the SDK's error is the cause.
            TypeError: It was made to be awaited.
        """
        if self.asynchronous:
            raise got_async(repr(self))
        return self._over(self._client()).complete(prompt)

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Ask the model and await its answer.

        Raises:
            SummarizerError: The request failed; the SDK's error is the cause.
        """
        return await self._over(self._client()).acomplete(prompt)

    def _over(self, client: Any) -> SDKSummarizer:
        kind = OpenAISummarizer if self.family == "openai" else AnthropicSummarizer
        over = kind(client, self.model, timeout=self.timeout, retries=self.retries)
        over.owned = True
        return over

    def _client(self) -> Any:
        client, self._spare = self._spare, None
        return self._new_client() if client is None else client

    def _new_client(self) -> Any:
        try:
            sdk = importlib.import_module(self.family)
        except ImportError as error:
            raise MissingExtraError(
                f'"{self.family}:{self.model}" needs the SDK: pip install {self.family}',
                extra=self.family,
            ) from error
        title = "OpenAI" if self.family == "openai" else "Anthropic"
        try:
            return getattr(sdk, f"Async{title}" if self.asynchronous else title)()
        except Exception as error:
            raise SummarizerError(
                f'"{self.family}:{self.model}": the {title} client cannot be made: {error}'
            ) from error
