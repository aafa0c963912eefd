"""Time series."""

from common import HIDDEN
from export.spec import Table

MODELS = Table()

SERIES = dict(family="embedding", arch="encoder-decoder", category="encoder-decoders", task="time-series-forecasting")
MODELS.add(
    "time-series-transformer",
    "TimeSeriesTransformerModel",
    [
        "past_values:f32[batch,37]=normal:5:1",
        "past_time_features:f32[batch,37,2]=normal",
        "past_observed_mask:f32[batch,37]=ones",
        "future_values:f32[batch,24]=normal:5:1",
        "future_time_features:f32[batch,24,2]=normal",
    ],
    HIDDEN,
    "huggingface/time-series-transformer-tourism-monthly",
    {
        "prediction_length": 24,
        "context_length": 30,
        "num_time_features": 2,
        "lags_sequence": [1, 2, 3, 4, 5, 6, 7],
        "use_cache": False,
    },
    **SERIES,
)
MODELS.add(
    "informer-reduced",
    "InformerModel",
    [
        "past_values:f32[batch,37]=normal:5:1",
        "past_time_features:f32[batch,37,2]=normal",
        "past_observed_mask:f32[batch,37]=ones",
        "future_values:f32[batch,24]=normal:5:1",
        "future_time_features:f32[batch,24,2]=normal",
    ],
    HIDDEN,
    "huggingface/informer-tourism-monthly",
    {
        "distil": False,
        "prediction_length": 24,
        "context_length": 30,
        "num_time_features": 2,
        "lags_sequence": [1, 2, 3, 4, 5, 6, 7],
        "use_cache": False,
    },
    reduced="distil True->False",
    **SERIES,
)
MODELS.add(
    "autoformer",
    "AutoformerModel",
    [
        "past_values:f32[batch,37]=normal:5:1",
        "past_time_features:f32[batch,37,2]=normal",
        "past_observed_mask:f32[batch,37]=ones",
        "future_values:f32[batch,24]=normal:5:1",
        "future_time_features:f32[batch,24,2]=normal",
    ],
    HIDDEN,
    "huggingface/autoformer-tourism-monthly",
    {
        "prediction_length": 24,
        "context_length": 30,
        "num_time_features": 2,
        "lags_sequence": [1, 2, 3, 4, 5, 6, 7],
        "use_cache": False,
    },
    patches=["autoformer_without_masks"],
    **SERIES,
)
MODELS.add(
    "patchtst",
    "PatchTSTForPrediction",
    ["past_values:f32[batch,512,7]=normal"],
    "prediction_outputs",
    "ibm-granite/granite-timeseries-patchtst",
    {
        "context_length": 512,
        "num_input_channels": 7,
        "patch_length": 12,
        "patch_stride": 12,
        "prediction_length": 96,
        "loss": "mse",
    },
    **dict(SERIES, arch="encoder-only"),
)
MODELS.add(
    "patchtsmixer",
    "PatchTSMixerForPrediction",
    ["past_values:f32[batch,512,7]=normal"],
    "prediction_outputs",
    "ibm-granite/granite-timeseries-patchtsmixer",
    {
        "context_length": 512,
        "num_input_channels": 7,
        "patch_length": 8,
        "patch_stride": 8,
        "d_model": 48,
        "prediction_length": 96,
        "loss": "mse",
    },
    **dict(SERIES, arch="encoder-only"),
)
