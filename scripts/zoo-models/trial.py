from common import *
from common import AUDIO, DECODER, DETECTION, DIFFUSION, HIDDEN, MULTI, POOLED, RAG, SEQ2SEQ, SPEECH_TEXT, STEP, TEXT, VIDEO, VISION, VLM, MOE, STATE
from export.spec import Table
from seq2seq import bart

MODELS = Table()
S2S = text(1000)

def s2s(vocabulary, cls_inputs=None):
    return text(vocabulary) + [ids(vocabulary, "decoder_input_ids", "decoder_sequence")]

# ---- transformers 5
MODELS.add("markuplm-base", "MarkupLMModel", [ids(50265), "xpath_tags_seq:i64[batch,sequence,50]=ids:216", "xpath_subs_seq:i64[batch,sequence,50]=ids:1001", mask()], POOLED,
    "microsoft/markuplm-base", {"vocab_size": 50267, "max_position_embeddings": 514}, **TEXT)
MODELS.add("blenderbot-400m-distill", "BlenderbotForConditionalGeneration", s2s(8008), "logits encoder_last_hidden_state", "facebook/blenderbot-400M-distill",
    {"vocab_size": 8008, "d_model": 1280, "encoder_layers": 2, "decoder_layers": 12, "encoder_attention_heads": 32, "decoder_attention_heads": 32, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "use_cache": False}, axes={"sequence": [1, 128], "decoder_sequence": [1, 128]}, **SEQ2SEQ)
MODELS.add("bigbird-pegasus", "BigBirdPegasusForConditionalGeneration", s2s(96103), "logits encoder_last_hidden_state", "google/bigbird-pegasus-large-arxiv",
    bart(8, 512, 8, 2048, 96103, attention_type="original_full", use_cache=False), reduced="layers 16->8, hidden 1024->512, heads 16->8, attention block_sparse->original_full", **SEQ2SEQ)
MODELS.add("pegasus-x", "PegasusXForConditionalGeneration", s2s(96103), "logits encoder_last_hidden_state", "google/pegasus-x-base",
    bart(6, 512, 8, 2048, 96103, use_cache=False, num_global_tokens=32, block_size=64), trace={"sequence": 128}, test={"sequence": (128, 256)}, reduced="layers 12->6, hidden 768->512, heads 12->8, block 512->64, global tokens 128->32", **SEQ2SEQ)
MODELS.add("pop2piano", "Pop2PianoForConditionalGeneration", ["input_features:f32[batch,frames,512]=normal", ids(2400, "decoder_input_ids", "decoder_sequence")], "logits encoder_last_hidden_state", "sweetcocoa/pop2piano",
    {"use_cache": False}, test={"frames": (50, 100)}, axes={"frames": [16, 1024]}, **dict(SPEECH_TEXT, task="audio-to-music"))
MODELS.add("nllb-moe", "NllbMoeForConditionalGeneration", s2s(256206), "logits encoder_last_hidden_state", "facebook/nllb-moe-54b",
    bart(4, 256, 4, 1024, 256206, use_cache=False, num_experts=8, encoder_sparse_step=2, decoder_sparse_step=2, expert_capacity=64), reduced="layers 24->4, hidden 2048->256, heads 16->4, experts 128->8", settings={"_experts_implementation": "batched_mm"}, **dict(SEQ2SEQ, arch="mixture-of-experts"))
MODELS.add("switch-base-8", "SwitchTransformersForConditionalGeneration", s2s(32100), "logits", "google/switch-base-8", {"d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 4, "num_sparse_encoder_layers": 2, "num_decoder_layers": 4, "num_sparse_decoder_layers": 2, "num_heads": 8, "num_experts": 8, "use_cache": False, "decoder_start_token_id": 0},
    reduced="layers 12->4, hidden 768->512, heads 12->8, ffn 3072->1024", settings={"_experts_implementation": "batched_mm"}, **dict(SEQ2SEQ, arch="mixture-of-experts"))
MODELS.add("seamless-m4t-t2t", "SeamlessM4TForTextToText", s2s(256100), "logits encoder_last_hidden_state", "facebook/hf-seamless-m4t-medium",
    {"vocab_size": 256102, "hidden_size": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "speech_encoder_layers": 1, "use_cache": False, "t2u_encoder_layers": 1, "t2u_decoder_layers": 1},
    reduced="layers 12->6, hidden 1024->512, heads 16->8, ffn 4096->2048; text to text alone", **SEQ2SEQ)
MODELS.add("seamless-m4t-s2t", "SeamlessM4TForSpeechToText", ["input_features:f32[batch,frames,160]=normal", mask(length="frames"), ids(256100, "decoder_input_ids", "decoder_sequence")], "logits", "facebook/hf-seamless-m4t-medium",
    {"vocab_size": 256102, "hidden_size": 512, "encoder_layers": 1, "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "speech_encoder_layers": 6, "speech_encoder_attention_heads": 8, "speech_encoder_intermediate_size": 2048, "use_cache": False, "t2u_encoder_layers": 1, "t2u_decoder_layers": 1},
    reduced="layers 12->6, hidden 1024->512, heads 16->8, ffn 4096->2048; speech to text alone", **SPEECH_TEXT)
MODELS.add("vit-gpt2-captioning", "VisionEncoderDecoderModel", [pixels(), ids(50257, "decoder_input_ids", "decoder_sequence")], "logits encoder_last_hidden_state", "nlpconnect/vit-gpt2-image-captioning",
    {"encoder": {"model_type": "vit"}, "decoder": {"model_type": "gpt2", "add_cross_attention": True, "is_decoder": True, "use_cache": False}}, const={"use_cache": False}, axes={"decoder_sequence": [1, 1024]}, **VLM)
MODELS.add("donut-base", "VisionEncoderDecoderModel", [pixels(640, 480), ids(57525, "decoder_input_ids", "decoder_sequence")], "logits encoder_last_hidden_state", "naver-clova-ix/donut-base",
    {"encoder": {"model_type": "donut-swin", "image_size": [640, 480], "window_size": 10, "embed_dim": 128, "depths": [2, 2, 14, 2], "num_heads": [4, 8, 16, 32]},
     "decoder": {"model_type": "mbart", "decoder_layers": 4, "d_model": 1024, "decoder_attention_heads": 16, "decoder_ffn_dim": 4096, "vocab_size": 57525, "max_position_embeddings": 1536, "scale_embedding": True, "add_final_layer_norm": True, "is_decoder": True, "add_cross_attention": True, "is_encoder_decoder": False, "use_cache": False}},
    const={"use_cache": False}, reduced="image 2560x1920->640x480", **VLM)
MODELS.add("wav2vec2-mbart", "SpeechEncoderDecoderModel", ["input_values:f32[batch,samples]=normal", ids(250054, "decoder_input_ids", "decoder_sequence")], "logits encoder_last_hidden_state", "facebook/wav2vec2-xls-r-300m-en-to-15",
    {"encoder": {"model_type": "wav2vec2"}, "decoder": {"model_type": "mbart", "decoder_layers": 6, "d_model": 512, "decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "vocab_size": 250054, "is_decoder": True, "add_cross_attention": True, "is_encoder_decoder": False, "use_cache": False}},
    const={"use_cache": False}, reduced="encoder layers 24->12, hidden 1024->768; decoder layers 12->6, hidden 1024->512", **SPEECH_TEXT)
MODELS.add("clip-italian", "VisionTextDualEncoderModel", [ids(31102, batch="text_batch"), pixels(), mask(batch="text_batch")], "logits_per_image text_embeds image_embeds", "clip-italian/clip-italian",
    {"vision_config": {"model_type": "clip_vision_model", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "patch_size": 32}, "text_config": {"model_type": "bert", "vocab_size": 31102}}, **MULTI)
MODELS.add("rag-sequence-generator", "RagSequenceForGeneration", ["context_input_ids:i64[batch*5,sequence]=ids:50265", "context_attention_mask:i64[batch*5,sequence]=ones", "doc_scores:f32[batch,5]=normal", ids(50265, "decoder_input_ids", "decoder_sequence")],
    "logits", "facebook/rag-sequence-nq", {"question_encoder": {"model_type": "dpr", "num_hidden_layers": 1}, "generator": {"model_type": "bart", **bart(6, 768, 12, 3072, 50265, use_cache=False)}},
    const={"n_docs": 5, "use_cache": False}, reduced="generator layers 12->6, hidden 1024->768", **dict(SEQ2SEQ, **RAG))
MODELS.add("univnet", "UnivNetModel", ["input_features:f32[batch,frames,100]=normal", "noise_sequence:f32[batch,frames,64]=normal"], "waveforms", "dg845/univnet-dev", test={"frames": (50, 100)}, trace={"frames": 60}, axes={"frames": [16, 1000]}, **dict(AUDIO, task="text-to-speech"))
MODELS.add("vits-decoder", "VitsModel", ["latents:f32[batch,192,frames]=normal"], "waveform", "facebook/mms-tts-eng", adapter="Sequence", args={"path": "decoder"}, trace={"frames": 60}, test={"frames": (50, 100)}, **dict(AUDIO, task="text-to-speech"))
MODELS.add("blip2-vision", "Blip2ForConditionalGeneration", [pixels()], "image_features", "Salesforce/blip2-opt-2.7b",
    {"vision_config": {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12}, "qformer_config": {"encoder_hidden_size": 768, "num_hidden_layers": 6},
     "text_config": {"model_type": "opt"}, "num_query_tokens": 32}, adapter="QueryingTransformer", reduced="vision layers 39->12, hidden 1408->768; Q-Former layers 12->6; for a text decoder of width 768, not 2560", **VLM)
MODELS.add("clvp-text-encoder", "ClvpModelForConditionalGeneration", [ids(255), mask()], "text_embeds", "susnato/clvp_dev", adapter="Submodule", args={"path": "text_encoder_model"}, **dict(TEXT, family="audio", category="speech-text", task="text-to-speech"))
MODELS.add("idefics", "IdeficsForVisionText2Text", [ids(32000), mask(), "pixel_values:f32[batch,1,3,224,224]=normal", "image_attention_mask:i64[batch,sequence,1]=ones"], "logits", "HuggingFaceM4/idefics-9b",
    {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8, "num_attention_heads": 8, "cross_layer_interval": 4, "use_cache": False, "vision_config": {"embed_dim": 768, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 3072, "patch_size": 16}},
    reduced="text layers 32->8, hidden 4096->512, heads 32->8; vision huge, 32 layers->base, 6 layers", **VLM)
MODELS.add("kosmos-2", "Kosmos2ForConditionalGeneration", [pixels(), ids(65037), mask(), "image_embeds_position_mask:bool[batch,sequence]=zeros"], "logits", "microsoft/kosmos-2-patch14-224",
    {"text_config": {"embed_dim": 512, "layers": 6, "ffn_dim": 2048, "attention_heads": 8, "use_cache": False}, "vision_config": {"hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048}, "latent_query_num": 16}, reduced="layers 24->6, hidden 2048->512", **VLM)
MODELS.add("tvp-base", "TvpForVideoGrounding", [ids(30522), "pixel_values:f32[batch,4,3,224,224]=normal", mask()], "logits", "Intel/tvp-base",
    {"backbone_config": {"model_type": "resnet", "out_features": ["stage4"]}, "use_timm_backbone": False, "backbone": None, "num_frames": 4, "max_img_size": 224}, reduced="frames 48->4, image 448->224", **dict(MULTI, category="video", task="video-grounding"))
MODELS.add("udop-text", "UdopForConditionalGeneration", [ids(33000), "bbox:f32[batch,sequence,4]=uniform:0:1", mask(), ids(33000, "decoder_input_ids", "decoder_sequence")], "logits", "microsoft/udop-large",
    {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "use_cache": False, "decoder_start_token_id": 0}, reduced="layers 24->6, hidden 1024->512, heads 16->8, ffn 4096->2048; text and layout without the image", **dict(SEQ2SEQ, family="multimodal", category="multimodal"))
MODELS.add("bark-small-semantic-kv", "BarkSemanticModel", [ids(129600), mask(length="past+sequence"), "position_ids:i64[batch,sequence]=range:past"], "logits", "suno/bark-small",
    {"input_vocab_size": 129600, "output_vocab_size": 10048, "num_layers": 12, "num_heads": 12, "hidden_size": 768, "block_size": 1024}, adapter="DecoderKV", args={"layers": 12, "kv_heads": 12, "head_dim": 64}, test=STEP, **dict(AUDIO, arch="decoder-only", task="text-to-audio"))
MODELS.add("bark-small-fine", "BarkFineModel", ["input_ids:i64[batch,sequence,8]=ids:1024"], "logits", "suno/bark-small", {"num_layers": 12, "num_heads": 12, "hidden_size": 768, "block_size": 1024, "n_codes_total": 8, "n_codes_given": 1, "input_vocab_size": 1056, "output_vocab_size": 1056}, const={"codebook_idx": 7}, **dict(AUDIO, arch="decoder-only", task="text-to-audio"))

# ---- diffusers
MODELS.add("sdxl-unet", "diffusers.UNet2DConditionModel", ["sample:f32[batch,4,64,64]=normal", "timestep:i64[batch]=const:500", "encoder_hidden_states:f32[batch,77,2048]=normal", "text_embeds:f32[batch,1280]=normal", "time_ids:f32[batch,6]=const:512"], "noise=sample", "stabilityai/stable-diffusion-xl-base-1.0",
    {"sample_size": 64, "cross_attention_dim": 2048, "block_out_channels": [128, 256, 512], "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"], "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
     "transformer_layers_per_block": [1, 2, 4], "attention_head_dim": [2, 4, 8], "use_linear_projection": True, "addition_embed_type": "text_time", "addition_time_embed_dim": 256, "projection_class_embeddings_input_dim": 2816},
    args={"nested": {"added_cond_kwargs": ["text_embeds", "time_ids"]}}, reduced="channels 320,640,1280->128,256,512, transformer layers 1,2,10->1,2,4, image 1024->512", **DIFFUSION)
MODELS.add("kandinsky-unet", "diffusers.UNet2DConditionModel", ["sample:f32[batch,4,64,64]=normal", "timestep:i64[batch]=const:500", "image_embeds:f32[batch,1280]=normal"], "noise=sample", "kandinsky-community/kandinsky-2-2-decoder",
    {"sample_size": 64, "in_channels": 4, "out_channels": 8, "block_out_channels": [128, 256, 384, 512], "cross_attention_dim": 256, "attention_head_dim": 64, "layers_per_block": 3, "addition_embed_type": "image", "encoder_hid_dim": 1280, "encoder_hid_dim_type": "image_proj",
     "down_block_types": ["ResnetDownsampleBlock2D", "SimpleCrossAttnDownBlock2D", "SimpleCrossAttnDownBlock2D", "SimpleCrossAttnDownBlock2D"], "mid_block_type": "UNetMidBlock2DSimpleCrossAttn", "up_block_types": ["SimpleCrossAttnUpBlock2D", "SimpleCrossAttnUpBlock2D", "SimpleCrossAttnUpBlock2D", "ResnetUpsampleBlock2D"], "resnet_time_scale_shift": "scale_shift"},
    args={"nested": {"added_cond_kwargs": ["image_embeds"]}}, const={"encoder_hidden_states": None}, reduced="channels 384,768,1152,1536->128,256,384,512, cross-attention 768->256", **DIFFUSION)
MODELS.add("ldm-unet", "diffusers.UNet2DModel", ["sample:f32[batch,3,64,64]=normal", "timestep:i64[batch]=const:500"], "noise=sample", "CompVis/ldm-celebahq-256",
    {"sample_size": 64, "block_out_channels": [224, 448, 672, 896], "down_block_types": ["DownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D"], "up_block_types": ["AttnUpBlock2D", "AttnUpBlock2D", "AttnUpBlock2D", "UpBlock2D"], "layers_per_block": 2, "attention_head_dim": 32, "norm_eps": 1e-6},
    **dict(DIFFUSION, task="unconditional-image-generation"))

# ---- timm
MODELS.add("mlp-mixer-b16", "timm.mixer_b16_224", [pixels()], "logits", "timm/mixer_b16_224.goog_in21k_ft_in1k", adapter="Sequence", **VISION)
MODELS.add("beit3-base", "timm.beit3_base_patch16_224", [pixels()], "logits", "timm/beit3_base_patch16_224.in22k_ft_in1k", adapter="Sequence", reduced="the image expert alone", **VISION)
