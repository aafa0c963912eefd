"""GPT and its kin, and other decoders with a key/value cache."""

from common import DECODER, STEP, decoder_inputs, mask, step_inputs, text
from export.spec import Table

MODELS = Table()

MODELS.add("gpt2-kv", "GPT2LMHeadModel", decoder_inputs(50257), "logits", "gpt2", test=STEP, **DECODER)
MODELS.add(
    "biogpt-kv",
    "BioGptForCausalLM",
    decoder_inputs(42384, False),
    "logits",
    "microsoft/biogpt",
    test=STEP,
    weightless=True,
    **DECODER,
)
MODELS.add(
    "codegen-350m-kv",
    "CodeGenForCausalLM",
    decoder_inputs(51200),
    "logits",
    "Salesforce/codegen-350M-mono",
    {"vocab_size": 51200, "n_embd": 1024, "n_layer": 20, "n_head": 16, "rotary_dim": 32},
    test=STEP,
    weightless=True,
    **DECODER,
)
MODELS.add(
    "ctrl-reduced-kv",
    "CTRLLMHeadModel",
    decoder_inputs(246534),
    "logits",
    "Salesforce/ctrl",
    {"n_embd": 640, "n_layer": 12, "n_head": 16, "dff": 2048},
    reduced="layers 48->12, hidden 1280->640, ffn 8192->2048",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "decision-transformer",
    "DecisionTransformerModel",
    [
        "states:f32[batch,sequence,11]=normal",
        "actions:f32[batch,sequence,3]=normal",
        "returns_to_go:f32[batch,sequence,1]=normal",
        "timesteps:i64[batch,sequence]=range",
        mask(),
    ],
    "action_preds state_preds return_preds",
    "edbeeching/decision-transformer-gym-hopper-medium",
    {"state_dim": 11, "act_dim": 3, "hidden_size": 128, "max_ep_len": 1000, "n_layer": 3, "n_head": 1},
    const={"rewards": None},
    **dict(DECODER, adapter="Plain", family="multimodal", category="multimodal", task="reinforcement-learning"),
)
MODELS.add(
    "falcon-reduced-kv",
    "FalconForCausalLM",
    decoder_inputs(65024),
    "logits",
    "tiiuae/falcon-7b",
    {
        "hidden_size": 1024,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "ffn_hidden_size": 4096,
        "multi_query": True,
        "parallel_attn": True,
        "bias": False,
    },
    reduced="layers 32->8, hidden 4544->1024, heads 71->16",
    args={"kv_heads": 1},
    test=STEP,
    **DECODER,
)
MODELS.add(
    "gpt-bigcode-reduced-kv",
    "GPTBigCodeForCausalLM",
    decoder_inputs(50257),
    "logits",
    "bigcode/gpt_bigcode-santacoder",
    reduced="layers 24->12, hidden 2048->768",
    args={"kv_heads": 1},
    test=STEP,
    **DECODER,
)
MODELS.add(
    "gpt-j-reduced-kv",
    "GPTJForCausalLM",
    decoder_inputs(50400),
    "logits",
    "EleutherAI/gpt-j-6b",
    {"n_embd": 1024, "n_layer": 8, "n_head": 16, "rotary_dim": 64},
    reduced="layers 28->8, hidden 4096->1024",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "gpt-neo-125m-kv",
    "GPTNeoForCausalLM",
    step_inputs(50257),
    "logits",
    "EleutherAI/gpt-neo-125m",
    {"hidden_size": 768, "num_layers": 12, "num_heads": 12, "attention_types": [[["global", "local"], 6]]},
    test=STEP,
    **DECODER,
)
MODELS.add(
    "gpt-neox-kv",
    "GPTNeoXForCausalLM",
    decoder_inputs(50304),
    "logits",
    "EleutherAI/pythia-160m",
    {
        "vocab_size": 50304,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    test=STEP,
    **DECODER,
)
MODELS.add(
    "mpt-reduced-kv",
    "MptForCausalLM",
    step_inputs(50368, False),
    "logits",
    "mosaicml/mpt-7b",
    {"d_model": 1024, "n_heads": 16, "n_layers": 8, "max_seq_len": 2048},
    reduced="layers 32->8, hidden 4096->1024, heads 32->16",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "opt-125m-kv", "OPTForCausalLM", decoder_inputs(50272, False), "logits", "facebook/opt-125m", test=STEP, **DECODER
)
MODELS.add(
    "openai-gpt",
    "OpenAIGPTLMHeadModel",
    text(40478),
    "logits",
    "openai-community/openai-gpt",
    **dict(DECODER, adapter="Plain"),
)
MODELS.add(
    "persimmon-reduced-kv",
    "PersimmonForCausalLM",
    decoder_inputs(262144),
    "logits",
    "adept/persimmon-8b-base",
    {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 8, "num_attention_heads": 8},
    reduced="layers 36->8, hidden 4096->512",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "phi-reduced-kv",
    "PhiForCausalLM",
    decoder_inputs(51200),
    "logits",
    "microsoft/phi-1_5",
    {
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
    },
    reduced="layers 24->8, hidden 2048->1024",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "phi3-reduced-kv",
    "Phi3ForCausalLM",
    decoder_inputs(32064),
    "logits",
    "microsoft/Phi-3-mini-4k-instruct",
    {
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "sliding_window": 2047,
        "pad_token_id": 0,
    },
    reduced="layers 32->8, hidden 3072->1024, heads 32->16",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "stablelm-reduced-kv",
    "StableLmForCausalLM",
    decoder_inputs(50304),
    "logits",
    "stabilityai/stablelm-3b-4e1t",
    {
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
    },
    reduced="layers 32->8, hidden 2560->1024, heads 32->16",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "xglm-reduced-kv",
    "XGLMForCausalLM",
    decoder_inputs(256008),
    "logits",
    "facebook/xglm-564M",
    {"d_model": 512, "ffn_dim": 2048, "num_layers": 12, "attention_heads": 8},
    reduced="layers 24->12, hidden 1024->512",
    test=STEP,
    **DECODER,
)
MODELS.add(
    "distilgpt2-kv",
    "GPT2LMHeadModel",
    decoder_inputs(50257),
    "logits",
    "distilbert/distilgpt2",
    {"n_layer": 6},
    test=STEP,
    **DECODER,
)
MODELS.add(
    "gpt2",
    "GPT2LMHeadModel",
    text(50257),
    "logits",
    "gpt2",
    {"use_cache": False},
    axes={"sequence": [1, 1024]},
    **dict(DECODER, adapter="Plain"),
)
MODELS.add(
    "pythia-70m-kv",
    "GPTNeoXForCausalLM",
    decoder_inputs(50304),
    "logits",
    "EleutherAI/pythia-70m",
    {
        "vocab_size": 50304,
        "hidden_size": 512,
        "num_hidden_layers": 6,
        "num_attention_heads": 8,
        "intermediate_size": 2048,
    },
    test=STEP,
    **DECODER,
)
