from common import DIFFUSION
from export.spec import Table

MODELS = Table()

MODELS.add(
    "sd-unet",
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
    "sd-vae-decoder",
    "diffusers.AutoencoderKL",
    ["latent:f32[batch,4,32,32]=normal"],
    "sample",
    "stabilityai/sd-vae-ft-mse",
    {
        "block_out_channels": [64, 128, 256, 256],
        "layers_per_block": 2,
        "down_block_types": ["DownEncoderBlock2D"] * 4,
        "up_block_types": ["UpDecoderBlock2D"] * 4,
        "latent_channels": 4,
        "sample_size": 256,
    },
    adapter="Sequence",
    args={"path": "decoder"},
    reduced="channels 128,256,512,512->64,128,256,256, image 512->256",
    **DIFFUSION,
)
MODELS.add(
    "sd-vae-encoder",
    "diffusers.AutoencoderKL",
    ["sample:f32[batch,3,256,256]=normal"],
    "moments",
    "stabilityai/sd-vae-ft-mse",
    {
        "block_out_channels": [64, 128, 256, 256],
        "layers_per_block": 2,
        "down_block_types": ["DownEncoderBlock2D"] * 4,
        "up_block_types": ["UpDecoderBlock2D"] * 4,
        "latent_channels": 4,
        "sample_size": 256,
    },
    adapter="Sequence",
    args={"path": "encoder"},
    reduced="channels 128,256,512,512->64,128,256,256, image 512->256",
    **DIFFUSION,
)
MODELS.add(
    "sd3-transformer",
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
    "dit-s2",
    "diffusers.DiTTransformer2DModel",
    ["hidden_states:f32[batch,4,32,32]=normal", "timestep:i64[batch]=const:500", "class_labels:i64[batch]=const:7"],
    "sample",
    "facebook/DiT-XL-2-256",
    {"sample_size": 32, "num_layers": 12, "num_attention_heads": 6, "attention_head_dim": 64},
    reduced="layers 28->12, hidden 1152->384",
    **dict(DIFFUSION, task="unconditional-image-generation"),
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
        "num_layers": 6,
        "num_attention_heads": 12,
        "attention_head_dim": 64,
        "cross_attention_dim": 768,
        "caption_channels": 4096,
    },
    const={"added_cond_kwargs": {"resolution": None, "aspect_ratio": None}},
    reduced="layers 28->6, hidden 1152->768",
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
    "vq-decoder",
    "diffusers.VQModel",
    ["latent:f32[batch,3,32,32]=normal"],
    "sample",
    "CompVis/ldm-celebahq-256",
    {
        "block_out_channels": [64, 128, 256],
        "layers_per_block": 2,
        "down_block_types": ["DownEncoderBlock2D"] * 3,
        "up_block_types": ["UpDecoderBlock2D"] * 3,
        "latent_channels": 3,
    },
    adapter="Sequence",
    args={"path": "decoder"},
    reduced="channels 128,256,512->64,128,256",
    **DIFFUSION,
)
