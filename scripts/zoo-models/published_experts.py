"""Mixtures of experts at the size at which they were published; exported without ever holding their weights.

One token at a time: the graph gathers the weights of the experts that each token takes, which is the work of a step, and for a prompt
of many tokens more memory than there is."""

from common import MOE, step_inputs
from experts import EXPERTS
from export.spec import Table
from published import UNTIED, decoder, rotary, widths

MODELS = Table()

decoder(
    MODELS,
    "olmoe-1b-7b-kv",
    "OlmoeForCausalLM",
    "allenai/OLMoE-1B-7B-0924",
    4096,
    widths(2048, 1024, 16, 16, 16, 50304, num_experts=64, num_experts_per_tok=8, **UNTIED),
    6.9,
    settings=EXPERTS,
    inputs=step_inputs(50304),
    **MOE,
)
decoder(
    MODELS,
    "qwen1.5-moe-a2.7b-kv",
    "Qwen2MoeForCausalLM",
    "Qwen/Qwen1.5-MoE-A2.7B",
    8192,
    widths(
        2048,
        5632,
        24,
        16,
        16,
        151936,
        moe_intermediate_size=1408,
        shared_expert_intermediate_size=5632,
        num_experts=60,
        num_experts_per_tok=4,
        **rotary(1000000.0),
        **UNTIED,
    ),
    14.3,
    settings=EXPERTS,
    inputs=step_inputs(151936),
    **MOE,
)
decoder(
    MODELS,
    "granite-3.0-1b-a400m-kv",
    "GraniteMoeForCausalLM",
    "ibm-granite/granite-3.0-1b-a400m-base",
    4096,
    widths(
        1024,
        512,
        24,
        16,
        8,
        49152,
        num_local_experts=32,
        num_experts_per_tok=8,
        tie_word_embeddings=True,
        embedding_multiplier=12.0,
        logits_scaling=6.0,
        residual_multiplier=0.22,
        attention_multiplier=0.015625,
    ),
    settings=EXPERTS,
    inputs=step_inputs(49152),
    **MOE,
)
decoder(
    MODELS,
    "mixtral-8x7b-kv",
    "MixtralForCausalLM",
    "mistralai/Mixtral-8x7B-v0.1",
    32768,
    widths(4096, 14336, 32, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2, **rotary(1000000.0), **UNTIED),
    46.7,
    settings=EXPERTS,
    inputs=step_inputs(32000),
    **MOE,
)
# Beyond 4,096 positions its published configuration stretches them.
STRETCHED = {"factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
decoder(
    MODELS,
    "gpt-oss-20b-kv",
    "GptOssForCausalLM",
    "openai/gpt-oss-20b",
    131072,
    widths(
        2880,
        2880,
        24,
        64,
        8,
        201088,
        head_dim=64,
        num_local_experts=32,
        num_experts_per_tok=4,
        sliding_window=128,
        pad_token_id=199999,
        eos_token_id=200002,
        **rotary(150000.0, "yarn", original_max_position_embeddings=4096, **STRETCHED),
        **UNTIED,
    ),
    20.9,
    settings=EXPERTS,
    inputs=step_inputs(201088),
    **MOE,
)
