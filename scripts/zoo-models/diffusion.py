"""Denoising networks and autoencoders of diffusion."""

from common import DIFFUSION
from export.spec import Table

MODELS = Table()

MODELS.add(
    "sd-reduced-unet",
    "diffusers.UNet2DConditionModel",
    [
        "sample:f32[batch,4,64,64]=normal",
        "timestep:i64[batch]=const:500",
        "encoder_hidden_states:f32[batch,77,768]=normal",
    ],
    "noise=sample",
    "stable-diffusion-v1-5/stable-diffusion-v1-5",
    {
        "sample_size": 64,
        "cross_attention_dim": 768,
        "block_out_channels": [128, 256, 512, 512],
        "attention_head_dim": 8,
    },
    reduced="channels 320,640,1280,1280->128,256,512,512",
    **DIFFUSION,
)
MODELS.add(
    "sd3-reduced-transformer",
    "diffusers.SD3Transformer2DModel",
    [
        "hidden_states:f32[batch,16,64,64]=normal",
        "encoder_hidden_states:f32[batch,sequence,1024]=normal",
        "pooled_projections:f32[batch,512]=normal",
        "timestep:i64[batch]=const:500",
    ],
    "sample",
    "stabilityai/stable-diffusion-3-medium",
    {
        "sample_size": 64,
        "num_layers": 6,
        "num_attention_heads": 12,
        "attention_head_dim": 64,
        "joint_attention_dim": 1024,
        "caption_projection_dim": 768,
        "pooled_projection_dim": 512,
    },
    reduced="layers 24->6, hidden 1536->768, image 1024->512",
    **DIFFUSION,
)
MODELS.add(
    "ddpm-unet",
    "diffusers.UNet2DModel",
    ["sample:f32[batch,3,32,32]=normal", "timestep:i64[batch]=const:500"],
    "noise=sample",
    "google/ddpm-cifar10-32",
    {
        "sample_size": 32,
        "block_out_channels": [128, 256, 256, 256],
        "down_block_types": ["DownBlock2D", "AttnDownBlock2D", "DownBlock2D", "DownBlock2D"],
        "up_block_types": ["UpBlock2D", "UpBlock2D", "AttnUpBlock2D", "UpBlock2D"],
        "layers_per_block": 2,
    },
    **dict(DIFFUSION, task="unconditional-image-generation"),
)
MODELS.add(
    "taesd-decoder",
    "diffusers.AutoencoderTiny",
    ["latent:f32[batch,4,64,64]=normal"],
    "sample",
    "madebyollin/taesd",
    adapter="Sequence",
    args={"path": "decoder"},
    **DIFFUSION,
)
MODELS.add(
    "kandinsky-unet",
    "diffusers.UNet2DConditionModel",
    ["sample:f32[batch,4,64,64]=normal", "timestep:i64[batch]=const:500", "image_embeds:f32[batch,1280]=normal"],
    "noise=sample",
    "kandinsky-community/kandinsky-2-2-decoder",
    {
        "sample_size": 64,
        "in_channels": 4,
        "out_channels": 8,
        "block_out_channels": [384, 768, 1152, 1536],
        "cross_attention_dim": 768,
        "attention_head_dim": 64,
        "layers_per_block": 3,
        "addition_embed_type": "image",
        "encoder_hid_dim": 1280,
        "encoder_hid_dim_type": "image_proj",
        "down_block_types": [
            "ResnetDownsampleBlock2D",
            "SimpleCrossAttnDownBlock2D",
            "SimpleCrossAttnDownBlock2D",
            "SimpleCrossAttnDownBlock2D",
        ],
        "mid_block_type": "UNetMidBlock2DSimpleCrossAttn",
        "up_block_types": [
            "SimpleCrossAttnUpBlock2D",
            "SimpleCrossAttnUpBlock2D",
            "SimpleCrossAttnUpBlock2D",
            "ResnetUpsampleBlock2D",
        ],
        "resnet_time_scale_shift": "scale_shift",
    },
    args={"nested": {"added_cond_kwargs": ["image_embeds"]}},
    const={"encoder_hidden_states": None},
    weightless=True,
    **DIFFUSION,
)
MODELS.add(
    "ldm-unet",
    "diffusers.UNet2DModel",
    ["sample:f32[batch,3,64,64]=normal", "timestep:i64[batch]=const:500"],
    "noise=sample",
    "CompVis/ldm-celebahq-256",
    {
        "sample_size": 64,
        "block_out_channels": [224, 448, 672, 896],
        "down_block_types": ["DownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D"],
        "up_block_types": ["AttnUpBlock2D", "AttnUpBlock2D", "AttnUpBlock2D", "UpBlock2D"],
        "layers_per_block": 2,
        "attention_head_dim": 32,
        "norm_eps": 1e-6,
    },
    **dict(DIFFUSION, task="unconditional-image-generation"),
)
