"""The networks of diffusion pipelines at the size at which they were published; the large ones never hold their weights."""

from common import DIFFUSION
from export.spec import Table

MODELS = Table()

SD15, SDXL = "stable-diffusion-v1-5/stable-diffusion-v1-5", "stabilityai/stable-diffusion-xl-base-1.0"
# A prompt is always padded to as many tokens.
PROMPT = "input_ids:i64[batch,77]=ids:49408:49407"
CLIP_L = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "vocab_size": 49408,
    "max_position_embeddings": 77,
    "hidden_act": "quick_gelu",
    "projection_dim": 768,
}
CLIP_G = {
    **CLIP_L,
    "hidden_size": 1280,
    "intermediate_size": 5120,
    "num_hidden_layers": 32,
    "num_attention_heads": 20,
    "hidden_act": "gelu",
    "projection_dim": 1280,
}
PART = dict(DIFFUSION, weightless=True)
MODELS.add("sd15-text-encoder", "CLIPTextModel", [PROMPT], "last_hidden_state", SD15, CLIP_L, **PART)
# Both read the layer before the last.
LAYERS = {"const": {"output_hidden_states": True}, "adapter": "BeforeLast"}
MODELS.add("sdxl-text-encoder", "CLIPTextModel", [PROMPT], "hidden_states", SDXL, CLIP_L, **LAYERS, **PART)
MODELS.add(
    "sdxl-text-encoder-2",
    "CLIPTextModelWithProjection",
    [PROMPT],
    "hidden_states text_embeds",
    SDXL,
    CLIP_G,
    **LAYERS,
    **PART,
)
MODELS.add(
    "sd15-unet",
    "diffusers.UNet2DConditionModel",
    [
        "sample:f32[batch,4,64,64]=normal",
        "timestep:i64[batch]=const:500",
        "encoder_hidden_states:f32[batch,77,768]=normal",
    ],
    "noise=sample",
    SD15,
    {"sample_size": 64, "cross_attention_dim": 768, "attention_head_dim": 8},
    **PART,
)
MODELS.add(
    "sdxl-unet",
    "diffusers.UNet2DConditionModel",
    [
        "sample:f32[batch,4,128,128]=normal",
        "timestep:i64[batch]=const:500",
        "encoder_hidden_states:f32[batch,77,2048]=normal",
        "text_embeds:f32[batch,1280]=normal",
        "time_ids:f32[batch,6]=const:1024",
    ],
    "noise=sample",
    SDXL,
    {
        "sample_size": 128,
        "cross_attention_dim": 2048,
        "block_out_channels": [320, 640, 1280],
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
        "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
        "transformer_layers_per_block": [1, 2, 10],
        "attention_head_dim": [5, 10, 20],
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2816,
    },
    args={"nested": {"added_cond_kwargs": ["text_embeds", "time_ids"]}},
    unrun="its weights take 10.3 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **PART,
)
VAE = {
    "block_out_channels": [128, 256, 512, 512],
    "layers_per_block": 2,
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
    "latent_channels": 4,
}
for name, published, side in (("sd15", SD15, 64), ("sdxl", SDXL, 128)):
    MODELS.add(
        f"{name}-vae-decoder",
        "diffusers.AutoencoderKL",
        [f"latent:f32[batch,4,{side},{side}]=normal"],
        "sample",
        published,
        {**VAE, "sample_size": 8 * side},
        adapter="Decode",
        unrun="it is the graph of sd15-vae-decoder, which was run, for four times the pixels" if name == "sdxl" else "",
        **DIFFUSION,
    )
MODELS.add(
    "sd-vae-decoder",
    "diffusers.AutoencoderKL",
    ["latent:f32[batch,4,32,32]=normal"],
    "sample",
    "stabilityai/sd-vae-ft-mse",
    {**VAE, "sample_size": 256},
    adapter="Decode",
    **DIFFUSION,
)
MODELS.add(
    "sd-vae-encoder",
    "diffusers.AutoencoderKL",
    ["sample:f32[batch,3,256,256]=normal"],
    "moments",
    "stabilityai/sd-vae-ft-mse",
    {**VAE, "sample_size": 256},
    adapter="Sequence",
    args={"path": "encoder"},
    **DIFFUSION,
)
MODELS.add(
    "vq-decoder",
    "diffusers.VQModel",
    ["latent:f32[batch,3,64,64]=normal"],
    "sample",
    "CompVis/ldm-celebahq-256",
    {
        "block_out_channels": [128, 256, 512],
        "layers_per_block": 2,
        "down_block_types": ["DownEncoderBlock2D"] * 3,
        "up_block_types": ["UpDecoderBlock2D"] * 3,
        "latent_channels": 3,
        "num_vq_embeddings": 8192,
        "sample_size": 256,
    },
    adapter="Sequence",
    args={"path": "decoder"},
    **DIFFUSION,
)
MODELS.add(
    "dit-xl-2",
    "diffusers.DiTTransformer2DModel",
    ["hidden_states:f32[batch,4,32,32]=normal", "timestep:i64[batch]=const:500", "class_labels:i64[batch]=const:7"],
    "sample",
    "facebook/DiT-XL-2-256",
    {"sample_size": 32, "num_layers": 28, "num_attention_heads": 16, "attention_head_dim": 72, "out_channels": 8},
    **dict(PART, task="class-to-image"),
)
MODELS.add(
    "pixart-transformer",
    "diffusers.PixArtTransformer2DModel",
    [
        "hidden_states:f32[batch,4,64,64]=normal",
        "encoder_hidden_states:f32[batch,sequence,4096]=normal",
        "timestep:i64[batch]=const:500",
    ],
    "sample",
    "PixArt-alpha/PixArt-XL-2-512x512",
    {
        "sample_size": 64,
        "num_layers": 28,
        "num_attention_heads": 16,
        "attention_head_dim": 72,
        "cross_attention_dim": 1152,
        "caption_channels": 4096,
        "out_channels": 8,
    },
    const={"added_cond_kwargs": {"resolution": None, "aspect_ratio": None}},
    patches=["idle_squeeze"],
    **PART,
)
MODELS.add(
    "sd3-transformer",
    "diffusers.SD3Transformer2DModel",
    [
        "hidden_states:f32[batch,16,128,128]=normal",
        "encoder_hidden_states:f32[batch,sequence,4096]=normal",
        "pooled_projections:f32[batch,2048]=normal",
        "timestep:i64[batch]=const:500",
    ],
    "sample",
    "stabilityai/stable-diffusion-3-medium",
    {
        "sample_size": 128,
        "patch_size": 2,
        "in_channels": 16,
        "out_channels": 16,
        "num_layers": 24,
        "num_attention_heads": 24,
        "attention_head_dim": 64,
        "joint_attention_dim": 4096,
        "caption_projection_dim": 1536,
        "pooled_projection_dim": 2048,
        "pos_embed_max_size": 192,
    },
    unrun="its weights take 8.1 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **PART,
)
# What is published by itself, and is no part of a pipeline.
MODELS.add(
    "sd-vae-ft-mse",
    "diffusers.AutoencoderKL",
    ["sample:f32[batch,3,256,256]=normal"],
    "reconstruction=sample",
    "stabilityai/sd-vae-ft-mse",
    {**VAE, "sample_size": 256},
    adapter="RoundTrip",
    **dict(DIFFUSION, task="image-to-image"),
)
MODELS.add(
    "taesd",
    "diffusers.AutoencoderTiny",
    ["sample:f32[batch,3,512,512]=normal"],
    "reconstruction=sample",
    "madebyollin/taesd",
    adapter="RoundTrip",
    **dict(DIFFUSION, task="image-to-image"),
)
MODELS.add(
    "asymmetric-vae-x-1-5",
    "diffusers.AsymmetricAutoencoderKL",
    ["sample:f32[batch,3,256,256]=normal"],
    "reconstruction=sample",
    "cross-attention/asymmetric-autoencoder-kl-x-1-5",
    {
        "down_block_types": ["DownEncoderBlock2D"] * 4,
        "down_block_out_channels": [128, 256, 512, 512],
        "layers_per_down_block": 2,
        "up_block_types": ["UpDecoderBlock2D"] * 4,
        "up_block_out_channels": [192, 384, 768, 768],
        "layers_per_up_block": 3,
        "latent_channels": 4,
        "sample_size": 256,
    },
    adapter="RoundTrip",
    **dict(DIFFUSION, task="image-to-image"),
)
MULTISCALES = [[], [], [], [5], [5], [5]]
BLOCKS = ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3
MODELS.add(
    "dc-ae-f32c32-sana",
    "diffusers.AutoencoderDC",
    ["sample:f32[batch,3,512,512]=normal"],
    "reconstruction=sample",
    "mit-han-lab/dc-ae-f32c32-sana-1.0-diffusers",
    {
        "latent_channels": 32,
        "encoder_block_types": BLOCKS,
        "decoder_block_types": BLOCKS,
        "encoder_block_out_channels": [128, 256, 512, 512, 1024, 1024],
        "decoder_block_out_channels": [128, 256, 512, 512, 1024, 1024],
        "encoder_qkv_multiscales": MULTISCALES,
        "decoder_qkv_multiscales": MULTISCALES,
        "encoder_layers_per_block": [2, 2, 2, 3, 3, 3],
        "decoder_layers_per_block": [3, 3, 3, 3, 3, 3],
        "downsample_block_type": "conv",
        "upsample_block_type": "interpolate",
        "decoder_norm_types": "rms_norm",
        "decoder_act_fns": "silu",
    },
    adapter="RoundTrip",
    **dict(DIFFUSION, task="image-to-image"),
)
MODELS.add(
    "sd-controlnet-canny",
    "diffusers.ControlNetModel",
    [
        "sample:f32[batch,4,64,64]=normal",
        "timestep:i64[batch]=const:500",
        "encoder_hidden_states:f32[batch,77,768]=normal",
        "controlnet_cond:f32[batch,3,512,512]=uniform:0:1",
    ],
    [f"down.{block}" for block in range(12)] + ["mid"],
    "lllyasviel/sd-controlnet-canny",
    {"cross_attention_dim": 768, "attention_head_dim": 8},
    const={"return_dict": False},
    **dict(PART, task="image-to-image"),
)
MODELS.add(
    "t2i-adapter-canny-sdxl",
    "diffusers.T2IAdapter",
    ["x:f32[batch,3,1024,1024]=uniform:0:1"],
    [f"features.{level}" for level in range(4)],
    "TencentARC/t2i-adapter-canny-sdxl-1.0",
    {
        "in_channels": 3,
        "channels": [320, 640, 1280, 1280],
        "num_res_blocks": 2,
        "downscale_factor": 16,
        "adapter_type": "full_adapter_xl",
    },
    **dict(DIFFUSION, task="image-to-image"),
)
MODELS.add(
    "hopper-medium-v2-unet",
    "diffusers.UNet1DModel",
    ["sample:f32[batch,14,32]=normal", "timestep:i64[batch]=const:10"],
    "noise=sample",
    "bglick13/hopper-medium-v2-value-function-hor32",
    {
        "down_block_types": ["DownResnetBlock1D"] * 4,
        "block_out_channels": [32, 64, 128, 256],
        "up_block_types": ["UpResnetBlock1D"] * 3,
        "layers_per_block": 1,
        "use_timestep_embedding": True,
        "out_block_type": "OutConv1DBlock",
        "norm_num_groups": 8,
        "downsample_each_block": False,
        "in_channels": 14,
        "out_channels": 14,
        "extra_in_channels": 0,
        "time_embedding_type": "positional",
        "flip_sin_to_cos": False,
        "freq_shift": 1,
        "sample_size": 65536,
        "mid_block_type": "MidResTemporalBlock1D",
        "act_fn": "mish",
    },
    **dict(DIFFUSION, task="reinforcement-learning"),
)
MODELS.add(
    "sd35-controlnet",
    "diffusers.SD3ControlNetModel",
    [
        "hidden_states:f32[batch,4096,2432]=normal",
        "controlnet_cond:f32[batch,16,128,128]=normal",
        "pooled_projections:f32[batch,2048]=normal",
        "timestep:i64[batch]=const:500",
    ],
    [f"block.{block}" for block in range(19)],
    "stabilityai/stable-diffusion-3.5-large-controlnet-canny",
    {
        "patch_size": 2,
        "in_channels": 16,
        "num_layers": 19,
        "attention_head_dim": 64,
        "num_attention_heads": 38,
        "joint_attention_dim": None,
        "caption_projection_dim": 2048,
        "pooled_projection_dim": 2048,
        "out_channels": 16,
        "pos_embed_max_size": None,
        "pos_embed_type": None,
        "use_pos_embed": False,
        "force_zeros_for_pooled_projection": False,
    },
    const={"return_dict": False},
    unrun="its weights take more than 8 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **dict(PART, task="image-to-image"),
)
MODELS.add(
    "controlnet-union-sdxl",
    "diffusers.ControlNetUnionModel",
    [
        "sample:f32[batch,4,128,128]=normal",
        "timestep:i64[batch]=const:500",
        "encoder_hidden_states:f32[batch,77,2048]=normal",
        "controlnet_cond:f32[batch,3,1024,1024]=uniform:0:1",
        "control_type:f32[batch,6]=ones",
        "text_embeds:f32[batch,1280]=normal",
        "time_ids:f32[batch,6]=const:1024",
    ],
    [f"down.{block}" for block in range(9)] + ["mid"],
    "xinsir/controlnet-union-sdxl-1.0",
    {
        "cross_attention_dim": 2048,
        "block_out_channels": [320, 640, 1280],
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
        "transformer_layers_per_block": [1, 2, 10],
        "attention_head_dim": [5, 10, 20],
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2816,
        "num_control_type": 6,
    },
    args={
        "nested": {"added_cond_kwargs": ["text_embeds", "time_ids"]},
        "listed": ["controlnet_cond"],
    },
    const={"control_type_idx": [3], "conditioning_scale": [1.0], "return_dict": False},
    unrun="its weights take 5 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **dict(PART, task="image-to-image"),
)
MODELS.add(
    "flux-controlnet-union",
    "diffusers.FluxControlNetModel",
    [
        "hidden_states:f32[batch,4096,64]=normal",
        "controlnet_cond:f32[batch,4096,64]=normal",
        "controlnet_mode:i64[batch,1]=zeros",
        "encoder_hidden_states:f32[batch,512,4096]=normal",
        "pooled_projections:f32[batch,768]=normal",
        "timestep:f32[batch]=uniform:0.4:0.6",
        "img_ids:f32[4096,3]=uniform:0:64",
        "txt_ids:f32[512,3]=zeros",
        "guidance:f32[batch]=const:3.5",
    ],
    [f"block.{block}" for block in range(5)] + [f"single.{block}" for block in range(10)],
    "InstantX/FLUX.1-dev-Controlnet-Union",
    {"in_channels": 64, "num_layers": 5, "num_single_layers": 10, "guidance_embeds": True, "num_mode": 10},
    const={"return_dict": False},
    unrun="its weights take 13 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **dict(PART, task="image-to-image"),
)
