"""Encoder-decoders in parts: encoder, encoder with the cross-attention cache, decoder step."""

from common import BART_CROSS, HIDDEN, SEQ2SEQ, STEP, T5_CROSS, ids, mask, text
from export.spec import Table

MODELS = Table()

MODELS.add(
    "t5-small-encoder",
    "T5EncoderModel",
    text(32100),
    HIDDEN,
    "t5-small",
    {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_kv": 64},
    **SEQ2SEQ,
)
MODELS.add(
    "t5-small-decoder-kv",
    "T5ForConditionalGeneration",
    [ids(32100, "decoder_input_ids"), mask("attention_mask", "encoder_sequence")],
    "logits",
    "t5-small",
    {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_kv": 64, "decoder_start_token_id": 0},
    adapter="CrossDecoderKV",
    args={"layers": 6, "kv_heads": 8, "head_dim": 64, "hidden": 512},
    test=STEP,
    **SEQ2SEQ,
)
MODELS.add(
    "t5-small-encoder-kv",
    "T5ForConditionalGeneration",
    text(32100),
    [],
    "t5-small",
    {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_kv": 64, "decoder_start_token_id": 0},
    adapter="EncoderKV",
    args={**T5_CROSS, "layers": 6, "kv_heads": 8, "head_dim": 64},
    **SEQ2SEQ,
)
T5_TINY = {"d_model": 256, "d_ff": 1024, "num_layers": 4, "num_heads": 4, "d_kv": 64}
MODELS.add(
    "t5-efficient-tiny-encoder", "T5EncoderModel", text(32100), HIDDEN, "google/t5-efficient-tiny", T5_TINY, **SEQ2SEQ
)
MODELS.add(
    "t5-efficient-tiny-decoder-kv",
    "T5ForConditionalGeneration",
    [ids(32100, "decoder_input_ids"), mask("attention_mask", "encoder_sequence")],
    "logits",
    "google/t5-efficient-tiny",
    {**T5_TINY, "decoder_start_token_id": 0},
    adapter="CrossDecoderKV",
    args={"layers": 4, "kv_heads": 4, "head_dim": 64, "hidden": 256},
    test=STEP,
    **SEQ2SEQ,
)
MODELS.add(
    "t5-efficient-tiny-encoder-kv",
    "T5ForConditionalGeneration",
    text(32100),
    [],
    "google/t5-efficient-tiny",
    {**T5_TINY, "decoder_start_token_id": 0},
    adapter="EncoderKV",
    args={**T5_CROSS, "layers": 4, "kv_heads": 4, "head_dim": 64},
    **SEQ2SEQ,
)
FLAN = {
    "d_model": 512,
    "d_ff": 1024,
    "num_layers": 8,
    "num_heads": 6,
    "d_kv": 64,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
}
MODELS.add("flan-t5-small-encoder", "T5EncoderModel", text(32100), HIDDEN, "google/flan-t5-small", FLAN, **SEQ2SEQ)
MODELS.add(
    "flan-t5-small-decoder-kv",
    "T5ForConditionalGeneration",
    [ids(32100, "decoder_input_ids"), mask("attention_mask", "encoder_sequence")],
    "logits",
    "google/flan-t5-small",
    {**FLAN, "decoder_start_token_id": 0},
    adapter="CrossDecoderKV",
    args={"layers": 8, "kv_heads": 6, "head_dim": 64, "hidden": 512},
    test=STEP,
    **SEQ2SEQ,
)
MODELS.add(
    "flan-t5-small-encoder-kv",
    "T5ForConditionalGeneration",
    text(32100),
    [],
    "google/flan-t5-small",
    {**FLAN, "decoder_start_token_id": 0},
    adapter="EncoderKV",
    args={**T5_CROSS, "layers": 8, "kv_heads": 6, "head_dim": 64},
    **SEQ2SEQ,
)


def parts(table, name, cls, published, config, vocabulary, layers, heads, hidden, cross=BART_CROSS, head_dim=0, **fields):
    """The encoder with the keys and values that the decoder reads, and the decoder step, which make one skill."""
    cache = {"layers": layers, "kv_heads": heads, "head_dim": head_dim or hidden // heads}
    table.add(
        f"{name}-encoder-kv",
        cls,
        text(vocabulary),
        [],
        published,
        config,
        adapter="EncoderKV",
        args={**cross, **cache},
        **fields,
        **SEQ2SEQ,
    )
    table.add(
        f"{name}-decoder-kv",
        cls,
        [ids(vocabulary, "decoder_input_ids"), mask("attention_mask", "encoder_sequence")],
        "logits",
        published,
        config,
        adapter="CrossDecoderKV",
        args={**cache, "hidden": hidden},
        **fields,
        test=STEP,
        **SEQ2SEQ,
    )


def seq2seq(name, cls, published, config, vocabulary, *sizes, cross=BART_CROSS, **fields):
    """One encoder-decoder: the encoder alone, and the two parts."""
    MODELS.add(
        f"{name}-encoder",
        cls,
        text(vocabulary),
        HIDDEN,
        published,
        config,
        adapter="Submodule",
        args={"path": cross["path"]},
        **{key: value for key, value in fields.items() if key != "head_dim"},
        **SEQ2SEQ,
    )
    parts(MODELS, name, cls, published, config, vocabulary, *sizes, cross=cross, **fields)


def bart(layers, width, heads, ffn, vocabulary, **more):
    return {
        "d_model": width,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": ffn,
        "decoder_ffn_dim": ffn,
        "vocab_size": vocabulary,
        **more,
    }


seq2seq(
    "bart-base", "BartForConditionalGeneration", "facebook/bart-base", bart(6, 768, 12, 3072, 50265), 50265, 6, 12, 768
)
seq2seq(
    "blenderbot-small",
    "BlenderbotSmallForConditionalGeneration",
    "facebook/blenderbot_small-90M",
    bart(8, 512, 16, 2048, 54944),
    54944,
    8,
    16,
    512,
)
parts(
    MODELS,
    "m2m100-418m",
    "M2M100ForConditionalGeneration",
    "facebook/m2m100_418M",
    bart(12, 1024, 16, 4096, 128112),
    128112,
    12,
    16,
    1024,
    weightless=True,
)
seq2seq(
    "marian-en-de",
    "MarianMTModel",
    "Helsinki-NLP/opus-mt-en-de",
    bart(
        6,
        512,
        8,
        2048,
        58101,
        decoder_vocab_size=58101,
        max_position_embeddings=512,
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=58100,
        eos_token_id=0,
        decoder_start_token_id=58100,
    ),
    58000,
    6,
    8,
    512,
)
parts(
    MODELS,
    "mbart-large-50",
    "MBartForConditionalGeneration",
    "facebook/mbart-large-50",
    bart(12, 1024, 16, 4096, 250054),
    250054,
    12,
    16,
    1024,
    weightless=True,
)
parts(
    MODELS,
    "pegasus-xsum",
    "PegasusForConditionalGeneration",
    "google/pegasus-xsum",
    bart(16, 1024, 16, 4096, 96103, max_position_embeddings=512),
    96103,
    16,
    16,
    1024,
    weightless=True,
)
seq2seq("plbart-base", "PLBartForConditionalGeneration", "uclanlp/plbart-base", {}, 50005, 6, 12, 768)
MT5_SMALL = {"d_model": 512, "d_ff": 1024, "num_layers": 8, "num_heads": 6, "d_kv": 64, "decoder_start_token_id": 0}
seq2seq(
    "mt5-small",
    "MT5ForConditionalGeneration",
    "google/mt5-small",
    MT5_SMALL,
    250100,
    8,
    6,
    512,
    cross=T5_CROSS,
    head_dim=64,
)
seq2seq(
    "m2m-100-reduced",
    "M2M100ForConditionalGeneration",
    "facebook/m2m100_418M",
    bart(6, 512, 8, 2048, 128112),
    128112,
    6,
    8,
    512,
    reduced="layers 12->6, hidden 1024->512, heads 16->8",
)
seq2seq(
    "mbart-reduced",
    "MBartForConditionalGeneration",
    "facebook/mbart-large-50",
    bart(6, 512, 8, 2048, 250054),
    250054,
    6,
    8,
    512,
    reduced="layers 12->6, hidden 1024->512, heads 16->8",
)
seq2seq(
    "pegasus-reduced",
    "PegasusForConditionalGeneration",
    "google/pegasus-xsum",
    bart(8, 512, 8, 2048, 96103, max_position_embeddings=512),
    96103,
    8,
    8,
    512,
    reduced="layers 16->8, hidden 1024->512, heads 16->8",
)
