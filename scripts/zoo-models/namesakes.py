"""Models known by names of their own whose architecture is another's: other sizes, vocabularies and weights."""

from common import DECODER, HIDDEN, POOLED, STEP, TEXT, VISION, decoder_inputs, pixels, text
from export.spec import Table
from published import UNTIED, decoder, rotary, unrun, widths
from seq2seq import bart, parts

MODELS = Table()

MODELS.add(
    "bertweet-base",
    "RobertaModel",
    text(64001),
    POOLED,
    "vinai/bertweet-base",
    {"vocab_size": 64001, "max_position_embeddings": 130, "type_vocab_size": 1, "layer_norm_eps": 1e-5},
    axes={"sequence": [1, 128]},
    **TEXT,
)
MODELS.add(
    "herbert-base",
    "BertModel",
    text(50000, True),
    POOLED,
    "allegro/herbert-base-cased",
    {"vocab_size": 50000, "max_position_embeddings": 514},
    **TEXT,
)
MODELS.add(
    "dino-vits16",
    "ViTModel",
    [pixels()],
    HIDDEN,
    "facebook/dino-vits16",
    {"hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 6},
    **dict(VISION, task="image-feature-extraction"),
)
decoder(
    MODELS,
    "codellama-7b-kv",
    "LlamaForCausalLM",
    "codellama/CodeLlama-7b-hf",
    16384,
    widths(4096, 11008, 32, 32, 32, 32016, rms_norm_eps=1e-5, **rotary(1000000.0), **UNTIED),
    6.7,
)
MODELS.add(
    "cpm-generate-2.6b-kv",
    "GPT2LMHeadModel",
    decoder_inputs(30000),
    "logits",
    "TsinghuaAI/CPM-Generate",
    {"n_embd": 2560, "n_layer": 32, "n_head": 32, "vocab_size": 30000},
    axes={"sequence": [1, 1024], "past": [0, 512]},
    test=STEP,
    weightless=True,
    unrun=unrun(2.6),
    **DECODER,
)
parts(
    MODELS,
    "nllb-200-600m",
    "M2M100ForConditionalGeneration",
    "facebook/nllb-200-distilled-600M",
    bart(12, 1024, 16, 4096, 256206),
    256206,
    12,
    16,
    1024,
    weightless=True,
)
parts(
    MODELS,
    "bartpho-syllable",
    "MBartForConditionalGeneration",
    "vinai/bartpho-syllable",
    bart(12, 1024, 16, 4096, 40030),
    40030,
    12,
    16,
    1024,
    weightless=True,
)
