"""What the tables share: kinds of models, and inputs."""

TEXT = dict(family="embedding", arch="encoder-only", category="text encoders")
DECODER = dict(
    family="text_generation", arch="decoder-only", category="text decoders", task="text-generation", adapter="DecoderKV"
)
MOE = dict(DECODER, arch="mixture-of-experts")
STATE = dict(family="text_generation", arch="state-space", category="text decoders", task="text-generation")
SEQ2SEQ = dict(
    family="text_generation", arch="encoder-decoder", category="encoder-decoders", task="text2text-generation"
)
VISION = dict(family="vision", arch="vision", category="vision", task="image-classification")
DETECTION = dict(VISION, task="object-detection")
SEGMENTATION = dict(VISION, task="image-segmentation")
AUDIO = dict(family="audio", arch="speech", category="audio", task="automatic-speech-recognition")
SPEECH_TEXT = dict(family="audio", arch="encoder-decoder", category="speech-text", task="automatic-speech-recognition")
VLM = dict(
    family="multimodal", arch="vision-encoder-text-decoder", category="vision-language", task="image-text-to-text"
)
MULTI = dict(family="multimodal", arch="multimodal", category="multimodal", task="zero-shot-image-classification")
VIDEO = dict(family="vision", arch="vision", category="video", task="video-classification")
DIFFUSION = dict(family="vision", arch="diffusion", category="diffusion", task="text-to-image")


def ids(vocabulary, name="input_ids", length="sequence", batch="batch"):
    return f"{name}:i64[{batch},{length}]=ids:{vocabulary}"


def mask(name="attention_mask", length="sequence", batch="batch"):
    return f"{name}:i64[{batch},{length}]=ones"


def text(vocabulary, types=False):
    inputs = [ids(vocabulary), mask()]
    return inputs + ["token_type_ids:i64[batch,sequence]=zeros"] if types else inputs


def pixels(height=224, width=None, channels=3, name="pixel_values"):
    return f"{name}:f32[batch,{channels},{height},{width or height}]=normal"


def decoder_inputs(vocabulary, positions=True):
    inputs = [ids(vocabulary), mask(length="past+sequence")]
    return inputs + ["position_ids:i64[batch,sequence]=range:past"] if positions else inputs


def step_inputs(vocabulary, positions=True):
    """As decoder_inputs for classes that only export with one new token."""
    inputs = [ids(vocabulary, length="1"), mask(length="past+1")]
    return inputs + ["position_ids:i64[batch,1]=range:past"] if positions else inputs


def embeds(hidden):
    """As decoder_inputs, for a decoder that takes embeddings in place of tokens."""
    return [
        f"inputs_embeds:f32[batch,sequence,{hidden}]=normal:0:0.02",
        mask(length="past+sequence"),
        "position_ids:i64[batch,sequence]=range:past",
    ]


# Where the cross-attention of a decoder layer is, for the adapter EncoderKV.
T5_CROSS = {
    "path": "encoder",
    "decoder": "decoder.block",
    "attention": "layer.1.EncDecAttention",
    "projections": ["k", "v"],
}
BART_CROSS = {
    "path": "model.encoder",
    "decoder": "model.decoder.layers",
    "attention": "encoder_attn",
    "projections": ["k_proj", "v_proj"],
}
STEP = {"sequence": (1, 16)}  # a decode step and a short prefill
HIDDEN = "last_hidden_state"
POOLED = "last_hidden_state pooler_output"
RAG = dict(arch="rag", task="question-answering")
