"""A Gemma-3-style image-text model of some hundred thousand random weights, made and saved here."""

from __future__ import annotations

from pathlib import Path

SIDE = 56
IMAGE_TOKENS = 4
TEMPLATE = """{{ bos_token }}{% for message in messages %}<start_of_turn>{{
 'model' if message['role'] == 'assistant' else 'user' }}
{% if message['content'] is string %}{{ message['content'] }}{% else %}{%
 for part in message['content'] %}{% if part['type'] == 'image' %}<start_of_image>{%
 else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<end_of_turn>
{% endfor %}{% if add_generation_prompt %}<start_of_turn>model
{% endif %}"""
SPECIAL = (
    *("<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"),
    *("<start_of_image>", "<image_soft_token>", "<end_of_image>"),
)


def make_tiny_model(folder: Path) -> Path:
    """Save model, tokenizer and processor as a folder that transformers loads; return it.

    The answers are nonsense; end tokens come now and then.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        Gemma3ImageProcessor,
        Gemma3Processor,
        PreTrainedTokenizerFast,
    )

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    known = [*SPECIAL, *letters]
    vocabulary = {word: number for number, word in enumerate(known)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<bos>",
        eos_token="<eos>",
        pad_token="<pad>",
        unk_token="<unk>",
        extra_special_tokens={
            "boi_token": "<start_of_image>",
            "eoi_token": "<end_of_image>",
            "image_token": "<image_soft_token>",
        },
    )
    wrapped.add_special_tokens({"additional_special_tokens": list(SPECIAL[4:6])})
    processor = Gemma3Processor(
        Gemma3ImageProcessor(size={"height": SIDE, "width": SIDE}),
        wrapped,
        chat_template=TEMPLATE,
        image_seq_length=IMAGE_TOKENS,
    )
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    config = Gemma3Config(
        text_config={
            **size,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 16,
            "vocab_size": len(wrapped),
            "max_position_embeddings": 4096,
        },
        vision_config={
            **size,
            "num_attention_heads": 2,
            "image_size": SIDE,
            "patch_size": 14,
        },
        mm_tokens_per_image=IMAGE_TOKENS,
        boi_token_index=vocabulary["<start_of_image>"],
        eoi_token_index=vocabulary["<end_of_image>"],
        image_token_id=vocabulary["<image_soft_token>"],
        eos_token_id=[vocabulary["<eos>"], vocabulary["<end_of_turn>"]],
        bos_token_id=vocabulary["<bos>"],
        pad_token_id=vocabulary["<pad>"],
    )
    torch.manual_seed(0)
    model = Gemma3ForConditionalGeneration(config)
    model.generation_config.eos_token_id = [vocabulary["<eos>"], vocabulary["<end_of_turn>"]]
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
