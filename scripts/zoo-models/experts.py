"""Mixtures of experts."""

from common import MOE, STEP, decoder_inputs
from export.spec import Table

MODELS = Table()

EXPERTS = {"_experts_implementation": "batched_mm"}
MODELS.add(
    "mixtral-reduced-kv",
    "MixtralForCausalLM",
    decoder_inputs(32000),
    "logits",
    "mistralai/Mixtral-8x7B-v0.1",
    {
        "hidden_size": 512,
        "intermediate_size": 1792,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
    },
    settings=EXPERTS,
    reduced="layers 32->4, hidden 4096->512, heads 32->8, ffn 14336->1792",
    test=STEP,
    **MOE,
)
MODELS.add(
    "qwen2-moe-reduced-kv",
    "Qwen2MoeForCausalLM",
    decoder_inputs(151000),
    "logits",
    "Qwen/Qwen1.5-MoE-A2.7B",
    {
        "hidden_size": 512,
        "intermediate_size": 1408,
        "moe_intermediate_size": 352,
        "shared_expert_intermediate_size": 1408,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "num_experts": 16,
    },
    settings=EXPERTS,
    reduced="layers 24->4, hidden 2048->512, experts 60->16",
    test=STEP,
    **MOE,
)
MODELS.add(
    "olmoe-reduced-kv",
    "OlmoeForCausalLM",
    decoder_inputs(50304),
    "logits",
    "allenai/OLMoE-1B-7B-0924",
    {
        "hidden_size": 512,
        "intermediate_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "num_experts": 16,
        "num_experts_per_tok": 4,
    },
    settings=EXPERTS,
    reduced="layers 16->4, hidden 2048->512, experts 64->16",
    test=STEP,
    **MOE,
)
MODELS.add(
    "granite-moe-reduced-kv",
    "GraniteMoeForCausalLM",
    decoder_inputs(49152),
    "logits",
    "ibm-granite/granite-3.0-1b-a400m-base",
    {
        "vocab_size": 49152,
        "hidden_size": 512,
        "intermediate_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
    },
    settings=EXPERTS,
    reduced="layers 24->4, hidden 1024->512, experts 32->8",
    test=STEP,
    **MOE,
)
MODELS.add(
    "gpt-oss-reduced-kv",
    "GptOssForCausalLM",
    decoder_inputs(201000),
    "logits",
    "openai/gpt-oss-20b",
    {
        "hidden_size": 512,
        "intermediate_size": 512,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "num_local_experts": 8,
        "head_dim": 64,
        "pad_token_id": 0,
        "eos_token_id": 1,
    },
    settings=EXPERTS,
    reduced="layers 24->4, hidden 2880->512, experts 32->8",
    test=STEP,
    **MOE,
)
