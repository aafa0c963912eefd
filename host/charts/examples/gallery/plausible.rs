//! Charts as a run of some models on some hardware would have them. The figures are made up.

use skillbench_charts::{
    Arrangement, Attributes, Bar, Bars, Bins, Cell, CellState, CellValue, Change, Chart, ChartError, Distribution, Dot,
    Estimate, Guide, Head, Heading, HeatMap, Lines, Pair, Pairs, Part, Point, Reference, Scatter, Series, Stack,
    Stacked, Trend,
};

use crate::Gallery;

const SOURCE: &str = "run 2026-03-05T10-22-31 · float32 · batch 1, sequence 128 · 20 rounds";

fn head(title: &str, subtitle: &str) -> Head {
    Head { title: title.to_owned(), subtitle: subtitle.to_owned(), source: SOURCE.to_owned(), id: None, titled: false }
}

fn model(name: &str) -> Result<Attributes, ChartError> {
    Attributes::of([("model", name)])
}

pub fn charts() -> Gallery {
    Ok(vec![
        ("bars", bars()?),
        ("bars-groups", groups()?),
        ("lines", lines()?),
        ("lines-ideal", ideal()?),
        ("trend", trend()?),
        ("heat-map", heat_map()?),
        ("distribution", distribution(Arrangement::Rows)?),
        ("distribution-overlaid", distribution(Arrangement::Overlaid)?),
        ("stacked", stacked()?),
        ("scatter", scatter()?),
        ("roof", roof()?),
        ("pairs", pairs()?),
    ])
}

fn bars() -> Result<Chart, ChartError> {
    let rows = [
        ("cuda", "NVIDIA L4", 2.91, 0.06, false, ""),
        ("openvino", "Intel Arc A770", 4.35, 0.22, false, ""),
        ("webgpu", "Chromium 141, Vulkan", 7.62, 0.91, false, "noisy"),
        ("qnn", "QNN emulator, x86", 9.8, 0.3, true, ""),
        ("cpu", "Xeon 8481C, 8 threads", 18.4, 0.5, false, ""),
        ("rten", "Xeon 8481C, 8 threads", 24.7, 0.8, false, ""),
    ];
    let measured = rows.into_iter().map(|(hardware, device, value, half, emulated, note)| {
        Ok(Bar {
            label: hardware.to_owned(),
            sublabel: device.to_owned(),
            estimate: Estimate::within(value, value - half, value + half),
            hardware: hardware.to_owned(),
            emulated,
            note: note.to_owned(),
            attributes: model("bert-base-uncased")?,
            ..Bar::default()
        })
    });
    let mut bars: Vec<Bar> = measured.collect::<Result<_, ChartError>>()?;
    for (hardware, note) in [
        ("rocm", "unavailable: no AMD device; the driver's folder /dev/kfd is not there"),
        ("mps", "failed: the operator LayerNormalization has no kernel for float16"),
    ] {
        let (label, note) = (hardware.to_owned(), note.to_owned());
        bars.push(Bar {
            hardware: label.clone(),
            label,
            note,
            attributes: model("bert-base-uncased")?,
            ..Bar::default()
        });
    }
    let head = head(
        "bert-base-uncased: latency by hardware",
        "median of one inference in ms, with 95% interval; lower is better",
    );
    Ok(Chart::Bars(Bars { head, unit: "ms".to_owned(), bars, ..Bars::default() }))
}

fn groups() -> Result<Chart, ChartError> {
    let mut bars = Vec::new();
    for (family, name, ratios) in [
        ("embedding", "bert-base-uncased", [("cuda", 6.3), ("openvino", 4.2), ("rten", 0.74)]),
        ("embedding", "all-MiniLM-L6-v2", [("cuda", 2.1), ("openvino", 3.4), ("rten", 0.91)]),
        ("vision", "google/vit-base-patch16-224", [("cuda", 11.8), ("openvino", 5.1), ("rten", 0.62)]),
    ] {
        for (hardware, ratio) in ratios {
            bars.push(Bar {
                label: name.to_owned(),
                group: family.to_owned(),
                estimate: Estimate::within(ratio, ratio * 0.96, ratio * 1.05),
                hardware: hardware.to_owned(),
                attributes: model(name)?,
                ..Bar::default()
            });
        }
    }
    Ok(Chart::Bars(Bars {
        head: head(
            "Speed against the CPU",
            "how many times as fast as cpu, same model and precision; higher is better",
        ),
        unit: "×".to_owned(),
        log: true,
        reference: Some(Reference { value: 1.0, label: "cpu = 1".to_owned() }),
        bars,
    }))
}

fn series(name: &str, hardware: &str, architecture: &str, points: &[(f64, Option<f64>)]) -> Result<Series, ChartError> {
    let point = |(x, y): &(f64, Option<f64>)| Point {
        x: *x,
        estimate: y.map_or(Estimate::default(), |y| Estimate::within(y, y * 0.95, y * 1.06)),
    };
    Ok(Series {
        name: name.to_owned(),
        hardware: hardware.to_owned(),
        architecture: architecture.to_owned(),
        emulated: hardware == "qnn",
        points: points.iter().map(point).collect(),
        attributes: model("bert-base-uncased")?,
        ..Series::default()
    })
}

fn lines() -> Result<Chart, ChartError> {
    let x = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let of = |base: f64, power: f64| x.map(|x: f64| (x, Some(base * x.powf(power))));
    let mut gap = of(5.1, 0.83);
    gap[3].1 = None;
    Ok(Chart::Lines(Lines {
        head: head("bert-base-uncased: latency over batch size", "median of one inference in ms; lower is better"),
        x_label: "batch size".to_owned(),
        y_label: "latency, ms".to_owned(),
        unit: "ms".to_owned(),
        series: vec![
            series("cuda", "cuda", "encoder-only", &of(2.9, 0.45))?,
            series("openvino", "openvino", "encoder-only", &gap)?,
            series("cpu", "cpu", "encoder-only", &of(18.4, 0.62))?,
            series("rten", "rten", "encoder-only", &of(19.6, 0.63))?,
            series("qnn", "qnn", "encoder-only", &of(9.7, 0.7))?,
            series("webgpu", "webgpu", "encoder-only", &[(1.0, Some(7.6))])?,
        ],
        ..Lines::default()
    }))
}

fn ideal() -> Result<Chart, ChartError> {
    let x = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let mut all = Vec::new();
    for (index, name) in ["bert-base-uncased", "gpt2", "t5-small", "google/vit-base-patch16-224", "openai/whisper-tiny"]
        .iter()
        .enumerate()
    {
        let architecture = ["encoder-only", "decoder-only", "encoder-decoder", "vision", "speech"][index];
        let points = x.map(|x: f64| (x, Some(120.0 * (1.0 + index as f64 * 0.6) * x.powf(0.9 - 0.1 * index as f64))));
        all.push(series(name, "cuda", architecture, &points)?);
        let points = x.map(|x: f64| (x, Some(21.0 * (1.0 + index as f64 * 0.5) * x.powf(0.3 - 0.03 * index as f64))));
        all.push(series(name, "cpu", architecture, &points)?);
    }
    all.push(Series {
        name: "mamba-130m".to_owned(),
        hardware: "rocm".to_owned(),
        note: "unavailable".to_owned(),
        ..Series::default()
    });
    Ok(Chart::Lines(Lines {
        head: head("Throughput over batch size", "samples per second, both axes in equal ratios; higher is better"),
        x_label: "batch size".to_owned(),
        y_label: "throughput, samples/s".to_owned(),
        unit: "samples/s".to_owned(),
        y_log: true,
        series: all,
        ideal: Some(Guide { label: "ideal: 120 × batch".to_owned(), points: vec![(1.0, 120.0), (64.0, 7680.0)] }),
        ..Lines::default()
    }))
}

fn trend() -> Result<Chart, ChartError> {
    let day = 86_400.0;
    let start = 1_764_547_200.0;
    let of = |base: f64, step: f64| -> Vec<(f64, Option<f64>)> {
        let value = |index: i32| {
            let wave = (f64::from(index) * 1.7).sin() * 0.02 + (f64::from(index) * 0.37).cos() * 0.01;
            let later = if index >= 52 { step } else { 0.0 };
            (start + day * f64::from(index), (index % 17 != 5).then_some(base * (1.0 + wave + later)))
        };
        (0..95).map(value).collect()
    };
    Ok(Chart::Trend(Trend {
        head: head("bert-base-uncased: latency over time", "median of one inference in ms, nightly; lower is better"),
        y_label: "latency, ms".to_owned(),
        unit: "ms".to_owned(),
        series: vec![
            series("cuda", "cuda", "encoder-only", &of(2.9, 0.14))?,
            series("openvino", "openvino", "encoder-only", &of(4.3, 0.0))?,
        ],
        changes: vec![Change {
            at: start + 52.0 * day,
            label: "driver 580.65".to_owned(),
            attributes: Attributes::default(),
        }],
        ..Trend::default()
    }))
}

fn heat_map() -> Result<Chart, ChartError> {
    let columns = ["cpu", "cuda", "rocm", "mps", "openvino", "qnn", "webgpu"];
    let rows = [
        ("bert-base-uncased", 18.4),
        ("distilbert-base-uncased", 9.3),
        ("gpt2", 31.0),
        ("t5-small", 22.8),
        ("google/vit-base-patch16-224", 41.5),
        ("microsoft/resnet-50", 12.7),
        ("openai/whisper-tiny", 88.0),
        ("openai/clip-vit-base-patch32", 35.2),
    ];
    let mut cells = Vec::new();
    for (row, (name, base)) in rows.iter().enumerate() {
        let of = |ratio: f64| CellValue {
            text: format!("{:.1}", base / ratio),
            value: Some(base / ratio),
            interval: None,
            ratio: Some(ratio),
            ratio_text: format!("{ratio:.1}×"),
        };
        let states = [
            CellState::Value(of(1.0)),
            CellState::Value(of(3.0 + 0.9 * row as f64)),
            CellState::Unavailable { reason: "no device".to_owned() },
            if row == 3 {
                CellState::Unsupported
            } else {
                CellState::Failed { reason: "LayerNormalization has no kernel".to_owned() }
            },
            CellState::Value(of(2.4 - 0.25 * row as f64)),
            if row < 5 { CellState::Emulated(of(0.6)) } else { CellState::NotRun },
            CellState::Value(of(0.35 + 0.2 * row as f64)),
        ];
        let attributes = model(name)?;
        cells.push(states.into_iter().map(|state| Cell { state, attributes: attributes.clone() }).collect());
    }
    Ok(Chart::HeatMap(HeatMap {
        head: head("Models by hardware", "median latency in ms, and the speed against cpu; float32, batch 1"),
        scale: "as cpu".to_owned(),
        below: "slower".to_owned(),
        above: "faster".to_owned(),
        rows: rows.iter().map(|(name, _)| Heading { label: (*name).to_owned(), ..Heading::default() }).collect(),
        columns: columns
            .map(|name| Heading { label: name.to_owned(), hardware: name.to_owned(), ..Heading::default() })
            .to_vec(),
        cells,
    }))
}

fn distribution(arrangement: Arrangement) -> Result<Chart, ChartError> {
    let mut series = Vec::new();
    for (hardware, middle, width) in
        [("cuda", 2.9, 0.12), ("openvino", 4.3, 0.35), ("webgpu", 6.1, 0.9), ("qnn", 5.2, 0.4)]
    {
        let edges: Vec<f64> = (0..=40).map(|index| middle - 3.0 * width + 0.2 * width * f64::from(index)).collect();
        let count = |edge: &f64| {
            let away = (edge - middle) / width;
            (400.0 * (-0.5 * away * away).exp() + if away > 0.0 { 40.0 * (-0.8 * away).exp() } else { 0.0 }) as u64
        };
        series.push(Bins {
            label: hardware.to_owned(),
            sublabel: "bert-base-uncased".to_owned(),
            hardware: hardware.to_owned(),
            emulated: hardware == "qnn",
            counts: edges[..40].iter().map(count).collect(),
            edges,
            q1: Some(middle - 0.6 * width),
            median: Some(middle + 0.1 * width),
            q3: Some(middle + 0.8 * width),
            p90: Some(middle + 1.7 * width),
            outliers: Some(3),
            attributes: model("bert-base-uncased")?,
            ..Bins::default()
        });
    }
    series.push(Bins {
        label: "rocm".to_owned(),
        hardware: "rocm".to_owned(),
        note: "unavailable: no device".to_owned(),
        ..Bins::default()
    });
    let head = head(
        "bert-base-uncased: how latencies are spread",
        "ms of single inferences; bar: quartiles, line: median, dashed: p90",
    );
    Ok(Chart::Distribution(Distribution {
        head,
        unit: "ms".to_owned(),
        arrangement,
        series,
        ..Distribution::default()
    }))
}

fn stacked() -> Result<Chart, ChartError> {
    let rows = [
        ("cuda", [Some(212.0), Some(48.0), Some(61.0), Some(880.0), Some(34.0)]),
        ("openvino", [Some(96.0), Some(51.0), Some(62.0), Some(1930.0), Some(12.0)]),
        ("cpu", [Some(38.0), Some(45.0), Some(63.0), Some(210.0), Some(29.0)]),
        ("qnn", [Some(55.0), Some(46.0), None, Some(1210.0), Some(51.0)]),
        ("rten", [Some(2.0), Some(31.0), Some(64.0), Some(12.0), Some(28.0)]),
    ];
    let names = ["import", "instantiate", "read", "compile, cold", "first inference"];
    let mut stacks = Vec::new();
    for (hardware, values) in rows {
        let parts = names.iter().zip(values).map(|(name, value)| Part { name: (*name).to_owned(), value });
        stacks.push(Stack {
            label: hardware.to_owned(),
            sublabel: "bert-base-uncased".to_owned(),
            hardware: hardware.to_owned(),
            emulated: hardware == "qnn",
            parts: parts.collect(),
            attributes: model("bert-base-uncased")?,
            ..Stack::default()
        });
    }
    stacks.push(Stack {
        label: "mps".to_owned(),
        hardware: "mps".to_owned(),
        note: "unavailable: not a Mac".to_owned(),
        ..Stack::default()
    });
    let head = head("bert-base-uncased: from nothing to the first answer", "ms by phase; lower is better");
    Ok(Chart::Stacked(Stacked { head, unit: "ms".to_owned(), stacks }))
}

fn scatter() -> Result<Chart, ChartError> {
    let mut dots = Vec::new();
    let models = [
        ("bert-base-uncased", "encoder-only", 18.0),
        ("gpt2", "decoder-only", 31.0),
        ("t5-small", "encoder-decoder", 23.0),
        ("vit-base", "vision", 41.0),
        ("whisper-tiny", "speech", 88.0),
        ("resnet-50", "vision", 13.0),
    ];
    for (index, (name, architecture, wall)) in models.iter().enumerate() {
        for (hardware, speed, share) in [("cpu", 1.0, 3.4), ("cuda", 7.0, 0.3 + 0.15 * index as f64), ("qnn", 1.8, 0.8)]
        {
            dots.push(Dot {
                x: Some(wall / speed),
                y: (index != 4 || hardware != "qnn").then_some(wall / speed * share),
                label: (*name).to_owned(),
                hardware: hardware.to_owned(),
                architecture: (*architecture).to_owned(),
                emulated: hardware == "qnn",
                attributes: model(name)?,
            });
        }
    }
    Ok(Chart::Scatter(Scatter {
        head: head(
            "Where a wall clock and CPU time part",
            "below the line the host waits, above it several cores work",
        ),
        x_label: "wall-clock time, ms".to_owned(),
        y_label: "CPU time, ms".to_owned(),
        x_log: true,
        y_log: true,
        dots,
        diagonal: Some("CPU time = wall-clock time".to_owned()),
        guides: Vec::new(),
    }))
}

fn roof() -> Result<Chart, ChartError> {
    let dots = [
        (0.4, 0.28, "gpt2, batch 1"),
        (6.0, 2.9, "bert, batch 1"),
        (55.0, 14.0, "bert, batch 32"),
        (140.0, 21.0, "resnet-50, batch 32"),
    ];
    Ok(Chart::Scatter(Scatter {
        head: head(
            "How near the roof models come on cuda",
            "operations per second against operations per byte; higher is better",
        ),
        x_label: "operations per byte".to_owned(),
        y_label: "10¹² operations per second".to_owned(),
        x_log: true,
        y_log: true,
        dots: dots
            .map(|(x, y, label)| Dot {
                x: Some(x),
                y: Some(y),
                label: label.to_owned(),
                hardware: "cuda".to_owned(),
                ..Dot::default()
            })
            .to_vec(),
        diagonal: None,
        guides: vec![Guide {
            label: "roof: 300 GB/s, 30 TFLOP/s".to_owned(),
            points: vec![(0.1, 0.03), (100.0, 30.0), (1000.0, 30.0)],
        }],
    }))
}

fn pairs() -> Result<Chart, ChartError> {
    let rows = [
        ("bert-base-uncased", "cuda", 2.91, 3.42, "1.18× slower"),
        ("distilbert-base-uncased", "cuda", 1.52, 1.51, "no difference"),
        ("google/vit-base-patch16-224", "cuda", 3.6, 2.4, "1.5× faster"),
        ("bert-base-uncased", "openvino", 4.35, 4.61, "1.06× slower"),
        ("gpt2", "qnn", 5.9, 6.4, "1.08× slower"),
    ];
    let mut pairs = Vec::new();
    for (name, hardware, before, after, ratio) in rows {
        pairs.push(Pair {
            label: name.to_owned(),
            sublabel: hardware.to_owned(),
            before: Estimate::within(before, before * 0.97, before * 1.04),
            after: Estimate::within(after, after * 0.98, after * 1.03),
            ratio: ratio.to_owned(),
            hardware: hardware.to_owned(),
            emulated: hardware == "qnn",
            attributes: model(name)?,
            ..Pair::default()
        });
    }
    pairs.push(Pair {
        label: "t5-small".to_owned(),
        sublabel: "cuda".to_owned(),
        before: Estimate::of(4.4),
        hardware: "cuda".to_owned(),
        note: "after: failed, out of memory".to_owned(),
        ..Pair::default()
    });
    Ok(Chart::Pairs(Pairs {
        head: head("Before and after driver 580.65", "median latency in ms with 95% interval; lower is better"),
        unit: "ms".to_owned(),
        before: "before".to_owned(),
        after: "after".to_owned(),
        pairs,
        ..Pairs::default()
    }))
}
