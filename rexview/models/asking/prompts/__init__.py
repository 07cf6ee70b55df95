"""The wording of what models are asked: built in, and edited copies of a review set."""

from rexview.models.asking.prompts.load import (
    built_in_prompts,
    fill,
    find_prompt,
    list_prompts,
    prompt_file,
    prompt_text,
    read_prompt,
)

__all__ = [
    "built_in_prompts",
    "fill",
    "find_prompt",
    "list_prompts",
    "prompt_file",
    "prompt_text",
    "read_prompt",
]
