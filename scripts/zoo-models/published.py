"""Decoders at the size at which they were published. They are exported without ever holding their weights."""

from common import DECODER, HIDDEN, STEP, TEXT, decoder_inputs, step_inputs, text
from export.spec import Table

MODELS = Table()
# No more positions than that for a prompt, nor for what came before it.
LONGEST = 4096


def unrun(billions):
    """Why a model of so many parameters is not run where it is exported."""
    return f"its weights take {4 * billions:.3g} GB in float32, which loading holds twice: more than the exporter lets one model hold"


def lengths(positions):
    """The axes of a decoder with so many positions for past and present together."""
    return {"sequence": [1, min(positions, LONGEST)], "past": [0, min(positions - 1, LONGEST)]}


def decoder(table, name, cls, published, positions, config, billions=0, inputs=None, **fields):
    """A decoder with its cache. Where `billions` of parameters are said, it is too large to be run here."""
    table.add(
        name,
        cls,
        inputs or decoder_inputs(config["vocab_size"]),
        "logits",
        published,
        {"max_position_embeddings": positions, **config},
        weightless=True,
        unrun=unrun(billions) if billions else "",
        test=STEP,
        axes=lengths(positions),
        **{**DECODER, **fields},
    )


def widths(hidden, ffn, layers, heads, kv_heads, vocabulary, **more):
    return {
        "hidden_size": hidden,
        "intermediate_size": ffn,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": vocabulary,
        **more,
    }


def rotary(theta, kind="default", **more):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": theta, **more}}


TIED, UNTIED = {"tie_word_embeddings": True}, {"tie_word_embeddings": False}


def llama3(factor):
    stretched = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    return {"rms_norm_eps": 1e-5, **rotary(500000.0, "llama3", factor=factor, **stretched)}


for name, published, positions, config, billions in (
    (
        "tinyllama-1.1b-kv",
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        2048,
        widths(2048, 5632, 22, 32, 4, 32000, rms_norm_eps=1e-5),
        0,
    ),
    (
        "llama-3.2-1b-kv",
        "meta-llama/Llama-3.2-1B",
        131072,
        widths(2048, 8192, 16, 32, 8, 128256, head_dim=64, **llama3(32.0), **TIED),
        0,
    ),
    (
        "llama-3.2-3b-kv",
        "meta-llama/Llama-3.2-3B",
        131072,
        widths(3072, 8192, 28, 24, 8, 128256, head_dim=128, **llama3(32.0), **TIED),
        3.2,
    ),
    (
        "llama-3.1-8b-kv",
        "meta-llama/Llama-3.1-8B",
        131072,
        widths(4096, 14336, 32, 32, 8, 128256, **llama3(8.0), **UNTIED),
        8,
    ),
    (
        "open-llama-7b-kv",
        "openlm-research/open_llama_7b",
        2048,
        widths(4096, 11008, 32, 32, 32, 32000, **UNTIED),
        6.7,
    ),
):
    decoder(MODELS, name, "LlamaForCausalLM", published, positions, config, billions)

QWEN2 = rotary(1000000.0)
for size, config, billions in (
    ("1.5B", widths(1536, 8960, 28, 12, 2, 151936, **QWEN2, **TIED), 1.5),
    ("3B", widths(2048, 11008, 36, 16, 2, 151936, **QWEN2, **TIED), 3.1),
    ("7B", widths(3584, 18944, 28, 28, 4, 152064, **QWEN2, **UNTIED), 7.6),
):
    name, published = f"qwen2.5-{size.lower()}-kv", f"Qwen/Qwen2.5-{size}"
    decoder(MODELS, name, "Qwen2ForCausalLM", published, 32768, config, billions)

QWEN3 = {"head_dim": 128, **QWEN2}
for size, config, billions in (
    ("0.6B", widths(1024, 3072, 28, 16, 8, 151936, **QWEN3, **TIED), 0),
    ("1.7B", widths(2048, 6144, 28, 16, 8, 151936, **QWEN3, **TIED), 1.7),
    ("4B", widths(2560, 9728, 36, 32, 8, 151936, **QWEN3, **TIED), 4),
    ("8B", widths(4096, 12288, 36, 32, 8, 151936, **QWEN3, **UNTIED), 8.2),
):
    decoder(MODELS, f"qwen3-{size.lower()}-kv", "Qwen3ForCausalLM", f"Qwen/Qwen3-{size}", 40960, config, billions)
# Reads a text whole, as an encoder does; a caller takes the row of the last token.
MODELS.add(
    "qwen3-embedding-0.6b",
    "Qwen3Model",
    text(151669),
    HIDDEN,
    "Qwen/Qwen3-Embedding-0.6B",
    widths(1024, 3072, 28, 16, 8, 151669, max_position_embeddings=32768, use_cache=False, **QWEN3),
    axes={"sequence": [1, LONGEST]},
    weightless=True,
    **dict(TEXT, arch="decoder-only"),
)
decoder(
    MODELS,
    "mistral-7b-kv",
    "MistralForCausalLM",
    "mistralai/Mistral-7B-v0.1",
    32768,
    widths(4096, 14336, 32, 32, 8, 32000, sliding_window=4096),
    7.2,
)
decoder(
    MODELS,
    "phi-1.5-kv",
    "PhiForCausalLM",
    "microsoft/phi-1_5",
    2048,
    widths(2048, 8192, 24, 32, 32, 51200, **rotary(10000.0, partial_rotary_factor=0.5)),
)
decoder(
    MODELS,
    "phi-3-mini-kv",
    "Phi3ForCausalLM",
    "microsoft/Phi-3-mini-4k-instruct",
    4096,
    widths(3072, 8192, 32, 32, 32, 32064, sliding_window=2047, pad_token_id=32000),
    3.8,
)
# Within its first 4,096 positions it takes the short factors, which are 1 each; the long ones are never reached here.
SHORT = {"short_factor": [1.0] * 48, "long_factor": [1.0] * 48, "original_max_position_embeddings": 4096}
decoder(
    MODELS,
    "phi-4-mini-kv",
    "Phi3ForCausalLM",
    "microsoft/Phi-4-mini-instruct",
    4096,
    widths(
        3072,
        8192,
        32,
        24,
        8,
        200064,
        max_position_embeddings=131072,
        original_max_position_embeddings=4096,
        sliding_window=262144,
        pad_token_id=199999,
        **rotary(10000.0, "longrope", partial_rotary_factor=0.75, **SHORT),
        **TIED,
    ),
    3.8,
)
decoder(
    MODELS,
    "gemma-2b-kv",
    "GemmaForCausalLM",
    "google/gemma-2b",
    8192,
    widths(2048, 16384, 18, 8, 1, 256000, head_dim=256),
    2.5,
)
decoder(
    MODELS,
    "gemma-2-2b-kv",
    "Gemma2ForCausalLM",
    "google/gemma-2-2b",
    8192,
    widths(2304, 9216, 26, 8, 4, 256000, head_dim=256),
    2.6,
)
decoder(
    MODELS,
    "gpt-j-6b-kv",
    "GPTJForCausalLM",
    "EleutherAI/gpt-j-6b",
    2048,
    {"n_embd": 4096, "n_layer": 28, "n_head": 16, "rotary_dim": 64, "vocab_size": 50400},
    6.1,
)
for size, published, hidden, billions in (("560m", "560m", 1024, 0), ("1.7b", "1b7", 2048, 1.7)):
    decoder(
        MODELS,
        f"bloom-{size}-kv",
        "BloomForCausalLM",
        f"bigscience/bloom-{published}",
        LONGEST,
        {"hidden_size": hidden, "n_layer": 24, "n_head": 16, "vocab_size": 250880},
        billions,
        decoder_inputs(250880, False),
    )
decoder(
    MODELS,
    "falcon-7b-kv",
    "FalconForCausalLM",
    "tiiuae/falcon-7b",
    2048,
    {
        "hidden_size": 4544,
        "num_hidden_layers": 32,
        "num_attention_heads": 71,
        "vocab_size": 65024,
        "multi_query": True,
        "parallel_attn": True,
        "bias": False,
    },
    6.9,
    args={"kv_heads": 1},
)
decoder(
    MODELS,
    "glm-4-9b-kv",
    "GlmForCausalLM",
    "THUDM/glm-4-9b-chat-hf",
    131072,
    widths(4096, 13696, 40, 32, 2, 151552, head_dim=128, attention_bias=True, pad_token_id=151329, **UNTIED),
    9.4,
)
decoder(
    MODELS,
    "olmo-1b-kv",
    "OlmoForCausalLM",
    "allenai/OLMo-1B-hf",
    2048,
    widths(2048, 8192, 16, 16, 16, 50304, **TIED),
)
decoder(
    MODELS,
    "smollm3-3b-kv",
    "SmolLM3ForCausalLM",
    "HuggingFaceTB/SmolLM3-3B",
    65536,
    widths(2048, 11008, 36, 16, 4, 128256, pad_token_id=128004, **rotary(5000000.0), **TIED),
    3.1,
)
decoder(
    MODELS,
    "stablelm-3b-kv",
    "StableLmForCausalLM",
    "stabilityai/stablelm-3b-4e1t",
    4096,
    widths(2560, 6912, 32, 32, 32, 50304, **rotary(10000.0, partial_rotary_factor=0.25), **UNTIED),
    2.8,
)
decoder(
    MODELS,
    "starcoder2-3b-kv",
    "Starcoder2ForCausalLM",
    "bigcode/starcoder2-3b",
    16384,
    widths(3072, 12288, 30, 24, 2, 49152, sliding_window=4096, bos_token_id=0, eos_token_id=0, **TIED),
    3,
)
decoder(
    MODELS,
    "xglm-564m-kv",
    "XGLMForCausalLM",
    "facebook/xglm-564M",
    2048,
    {"d_model": 1024, "ffn_dim": 4096, "num_layers": 24, "attention_heads": 16, "vocab_size": 256008},
)
decoder(
    MODELS,
    "santacoder-1.1b-kv",
    "GPTBigCodeForCausalLM",
    "bigcode/gpt_bigcode-santacoder",
    2048,
    {"n_embd": 2048, "n_layer": 24, "n_head": 16, "n_positions": 2048, "vocab_size": 49280},
    args={"kv_heads": 1},
)
decoder(
    MODELS,
    "ctrl-kv",
    "CTRLLMHeadModel",
    "Salesforce/ctrl",
    256,
    {"n_positions": 256, "vocab_size": 246534},
    1.6,
)
MODELS[-1].axes = {"sequence": [1, 128], "past": [0, 128]}
decoder(
    MODELS,
    "mpt-7b-kv",
    "MptForCausalLM",
    "mosaicml/mpt-7b",
    2048,
    {"d_model": 4096, "n_heads": 32, "n_layers": 32, "max_seq_len": 2048, "vocab_size": 50432},
    6.6,
    inputs=step_inputs(50432, False),
)
