"""State-space models: one decode step with its state."""

from common import STATE, text
from export.spec import Table

MODELS = Table()


def state_step(name, cls, published, config, vocabulary, layers, conv, state, **fields):
    MODELS.add(
        name,
        cls,
        [f"input_ids:i64[batch,1]=ids:{vocabulary}"],
        "logits",
        published,
        config,
        adapter="StateStep",
        args={"layers": layers, "conv": conv, "state": state},
        **dict(STATE, **fields),
    )


state_step(
    "mamba-130m-step",
    "MambaForCausalLM",
    "state-spaces/mamba-130m-hf",
    {"num_hidden_layers": 24},
    50280,
    24,
    [1536, 4],
    [1536, 16],
)
state_step(
    "falcon-mamba-reduced-step",
    "FalconMambaForCausalLM",
    "tiiuae/falcon-mamba-7b",
    {"num_hidden_layers": 12, "vocab_size": 65024},
    65024,
    12,
    [1536, 4],
    [1536, 16],
    reduced="layers 64->12, hidden 4096->768",
)
state_step(
    "falcon-mamba-7b-step",
    "FalconMambaForCausalLM",
    "tiiuae/falcon-mamba-7b",
    {"hidden_size": 4096, "num_hidden_layers": 64, "vocab_size": 65024, "tie_word_embeddings": False},
    65024,
    64,
    [8192, 4],
    [8192, 16],
    weightless=True,
    unrun="its weights take 29 GB in float32, which loading holds twice: more than the exporter lets one model hold",
)
state_step(
    "mamba2-130m-step",
    "Mamba2ForCausalLM",
    "state-spaces/mamba2-130m",
    {
        "num_hidden_layers": 24,
        "hidden_size": 768,
        "num_heads": 24,
        "head_dim": 64,
        "state_size": 128,
        "n_groups": 1,
        "expand": 2,
        "vocab_size": 50288,
        "tie_word_embeddings": True,
    },
    50277,
    24,
    [1792, 4],
    [24, 64, 128],
)
MODELS.add(
    "rwkv-169m-step",
    "RwkvForCausalLM",
    ["input_ids:i64[1,1]=ids:50277"],
    "logits",
    "RWKV/rwkv-4-169m-pile",
    {"hidden_size": 768, "num_hidden_layers": 12, "rescale_every": 0},
    adapter="RwkvStep",
    args={"layers": 12, "hidden": 768},
    **STATE,
)
MODELS.add(
    "lfm2-350m",
    "Lfm2ForCausalLM",
    text(65536),
    "logits",
    "LiquidAI/LFM2-350M",
    {
        "hidden_size": 1024,
        "intermediate_size": 6656,  # of which the class takes two thirds, rounded up to 256
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "use_cache": False,
        "layer_types": ["full_attention" if layer in (2, 5, 8, 10, 12, 14) else "conv" for layer in range(16)],
    },
    **STATE,
)
