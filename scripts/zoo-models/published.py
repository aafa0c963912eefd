"""Key classes at their published size. They are exported without ever holding their weights."""

from common import DECODER, STEP, decoder_inputs
from export.spec import Table
from vision_parts import LLAVA, LLAVA_NEXT, llava

MODELS = Table()

MODELS.add(
    "tinyllama-1.1b-kv",
    "LlamaForCausalLM",
    decoder_inputs(32000),
    "logits",
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    {
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 22,
        "num_attention_heads": 32,
        "num_key_value_heads": 4,
        "vocab_size": 32000,
        "max_position_embeddings": 2048,
        "rms_norm_eps": 1e-5,
    },
    weightless=True,
    test=STEP,
    axes={"sequence": [1, 2048], "past": [1, 2047]},
    **DECODER,
)


def large(config, **text):
    """A 7B language model behind the large CLIP tower."""
    widths = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
    return {
        **config,
        "text_config": {**config["text_config"], **widths, **text},
        "vision_config": {**config["vision_config"], "num_hidden_layers": 24},
    }


UNRUN = "its weights take 27 GB in float32, more than the machine that exports has"
VICUNA = large(LLAVA, intermediate_size=11008, num_key_value_heads=32)
MISTRAL = large(
    LLAVA_NEXT,
    intermediate_size=14336,
    num_key_value_heads=8,
    rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
)
llava(MODELS, "llava-7b", "LlavaForConditionalGeneration", "llava-hf/llava-1.5-7b-hf", VICUNA, "", weightless=True)
llava(
    MODELS,
    "llava-next-7b",
    "LlavaNextForConditionalGeneration",
    "llava-hf/llava-v1.6-mistral-7b-hf",
    MISTRAL,
    "",
    weightless=True,
)
for spec in MODELS:
    if spec.name.endswith("7b-decoder-kv"):
        spec.unrun = UNRUN
