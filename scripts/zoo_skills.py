"""What the records of plugins/zoo/data/skills.json hold beyond what was exported: how a model generates, the skills made of
several skeletons, the names each skill answers to, and the marks of key classes. scripts/zoo-import and scripts/zoo-flops
write them."""

import json
import re
import sys
from math import prod


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, rows):
    """One record a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n" if rows else "[]\n", encoding="utf-8")


def folded(name):
    """As the host compares names."""
    return name.lower().replace("_", "-")


# What is derived here, and so is dropped before it is derived anew.
DERIVED = "aliases key small_of generation generator unrepeatable".split()
STATES = [
    # input, output, and whether the cache grows along dimension 2
    (re.compile(r"past_key_values\.(\d+\.(?:decoder\.)?(?:key|value))"), "present.{}", 2),
    (re.compile(r"past_((?:conv|state)\.\d+)"), "present_{}", None),
    (re.compile(r"past_(ffn|attention|numerator|denominator|maximum)"), "present_{}", None),
]


def states(record):
    """Which output of one step is which input of the next."""
    found = []
    for port in record["inputs"]:
        for pattern, output, grows in STATES:
            match = pattern.fullmatch(port["name"])
            if match and output.format(match[1]) in record["outputs"]:
                pair = {"from": output.format(match[1]), "to": port["name"]}
                found.append(pair | ({"grows": grows} if grows else {}))
    return found


def generation(record):
    """How a graph of one step generates; `None` for another graph, or one that needs others beside it."""
    inputs = {port["name"]: port for port in record["inputs"]}
    state = states(record)
    crossed = any(".encoder." in name for name in inputs)
    if not state or "logits" not in record["outputs"] or crossed or "input_ids" not in inputs:
        return None
    return step(record, "", state) | {"axes": first_axes(record), "prompt": prompt(record)}


def step(record, part, state):
    """The keys that tell of the decoder itself."""
    inputs = {port["name"]: port for port in record["inputs"]}
    tokens = next((name for name in ("input_ids", "decoder_input_ids") if name in inputs), None)
    made = {"decoder": part, "tokens": tokens, "logits": "logits"}
    if "position_ids" in inputs:
        made["positions"] = "position_ids"
    if "past" in str(inputs.get("attention_mask", {}).get("dims")):
        made["mask"] = "attention_mask"
    made["state"] = state
    if inputs[tokens or "inputs_embeds"]["dims"][1] == 1:
        made["one_token"] = True
    return made


def first_axes(record):
    axes = {}
    if "sequence" in record["axes"]:
        axes["sequence"] = "prompt"
    if "past" in record["axes"]:
        axes["past"] = 0
    return axes


def prompt(record):
    """A prompt leaves room for as many new tokens: sequence and past have each their half of the positions, or else share one."""
    most = record["axes"].get("sequence", [1, 512])[1]
    past = record["axes"].get("past", [0, most])[1]
    return [1, most if past >= most else (past + 1) // 2]


def limit(data, skills):
    """Every graph with a cache was found to take an empty one; what else a graph takes less of than its record said."""
    marks = read(data / "marks.json")
    corrections = marks["axes"]
    for skill in skills:
        if skill["id"] in marks["multiples"]:
            skill["multiples"] = marks["multiples"][skill["id"]]
        if "past" in skill["axes"]:
            skill["axes"]["past"][0] = 0
        fills = marks["fills"].get(skill["id"], {})
        for port in skill["inputs"]:
            port["fill"] = fills.get(port["name"], port["fill"])
            # Noise that is alike in brightness and contrast moves what a convolutional network answers by next to nothing.
            if port["name"].startswith("pixel_values") and port["fill"] == "normal" and len(port["dims"]) > 3:
                port["fill"] = "image"
        for axis, limits in corrections.get(skill["id"], {}).items():
            if axis in skill["axes"]:
                skill["axes"][axis] = limits


def composed(entry, by_id):
    """A skill of several skeletons; `None` where one of them is not there yet."""
    parts = {name: by_id.get(skeleton) for name, skeleton in entry["parts"].items()}
    if None in parts.values():
        return None
    decoder = parts["decoder"]
    # Two parts may mean different lengths by one name: the decoder keeps its names.
    others = {"encoder": {"sequence": "encoder_sequence"}, "embed": {"sequence": "prompt"}}
    renamed = {name: {axis: to for axis, to in others.get(name, {}).items() if axis in part["axes"]} for name, part in parts.items()}
    axes = {}
    for name, part in parts.items():
        for axis, limits in part["axes"].items():
            axis = renamed[name].get(axis, axis)
            least, most = axes.get(axis, limits)
            axes[axis] = [max(least, limits[0]), min(most, limits[1])]
    if "vision" in parts:
        # The image's rows stand before the prompt, and nothing in these decoders ends at a position.
        axes["sequence"] = [1, parts["vision"]["rows"] + axes["prompt"][1]]
        axes["past"] = [0, 2 * axes["sequence"][1]]
    kept = "published_id family architecture category task".split()
    reductions = list(dict.fromkeys(part["reduced"] for part in parts.values() if part["reduced"]))
    return {
        "id": entry["id"],
        **{key: decoder[key] for key in kept},
        "parts": [{"name": name, "skill": part["id"], "axes": renamed[name]} for name, part in parts.items()],
        "pipeline": list(parts),
        "parameters": entry["parameters"],
        "parameters_read": sum(part["parameters_read"] for part in parts.values()),
        "reduced": "; ".join(reductions) or None,
        "axes": axes,
        "flops": composed_flops(parts, renamed),
        "generation": composed_generation(parts, axes),
    }


def composed_generation(parts, axes):
    decoder = parts["decoder"]
    made = step(decoder, "decoder", states(decoder))
    first = first_axes(decoder)
    given = {port["name"] for port in decoder["inputs"]}
    if "encoder" in parts:
        crossed = [name for name in parts["encoder"]["outputs"] if name.startswith("present.")]
        give = [{"from": name, "to": name.replace("present.", "past_key_values.")} for name in crossed]
        if {pair["to"] for pair in give} != {name for name in given if ".encoder." in name}:
            sys.exit(f"{decoder['id']} reads other states than {parts['encoder']['id']} gives")
        made["before"] = [{"part": "encoder", "give": give}]
        first["sequence"] = 1
    if "embed" in parts:
        made["embed"] = {"part": "embed", "tokens": "input_ids", "from": parts["embed"]["outputs"][0], "to": "inputs_embeds"}
    if "vision" in parts:
        made["image"] = {"part": "vision", "from": parts["vision"]["outputs"][0]}
        first["sequence"] = f"{parts['vision']['rows']}+prompt"
    made["axes"] = first
    spoken = axes.get("encoder_sequence", axes.get("prompt"))
    if "encoder" in parts and "sequence" in parts["encoder"]["axes"]:
        first["encoder_sequence"] = "prompt"
    elif "encoder" in parts:
        # Sound has a length of its own.
        first["encoder_sequence"] = decoder["axes"]["encoder_sequence"][0]
        spoken = None
    if spoken:
        made["prompt"] = spoken
    return made


def composed_flops(parts, renamed):
    """The sum of the parts, wherever the decoder is counted and the others' counts tell."""
    sums = []
    for count in parts["decoder"]["flops"]:
        total, at = count["value"], dict(count["axes"])
        for name, part in parts.items():
            if name == "decoder":
                continue
            if "prompt" in renamed[name].values():
                at["prompt"] = at["sequence"]
            lengths = {axis: at.get(renamed[name].get(axis, axis)) for axis in part["axes"]}
            more = flops_at(part, lengths)
            if more is None:
                break
            total += more
        else:
            sums.append({"value": total, "axes": at})
    return sums


def flops_at(part, axes):
    if part["id"].endswith("-embed"):
        return 0
    return next((count["value"] for count in part["flops"] if count["axes"] == axes), None)


def rank(record, parts):
    """The better one answers to a name that several could: a whole model before a part of one, a plain graph before one that
    takes a cache or a state, what is not reduced before what is."""
    cached = "parts" in record or any(port["name"].startswith("past_") for port in record["inputs"])
    return record["id"] in parts, cached, record["reduced"] is not None


def better(one, other, parts):
    """Where the rank does not tell, the larger one by a tenth or more, then the shorter id."""
    if rank(one, parts) != rank(other, parts):
        return rank(one, parts) < rank(other, parts)
    less, more = sorted([one["parameters"], other["parameters"]])
    if less < 0.9 * more:
        return one["parameters"] == more
    return (len(one["id"]), one["id"]) < (len(other["id"]), other["id"])


def published_names(record):
    """The published id, with and without the publisher."""
    published = record["published_id"]
    return [published, published.rsplit("/", 1)[-1]] if published else []


def owners(skills, chosen):
    """Which skill answers to each name, besides its own id. `chosen` is said by hand, and stands where it and the rule differ."""
    ids = {folded(skill["id"]): skill for skill in skills}
    parts = {part["skill"] for skill in skills for part in skill.get("parts", [])}
    composed = {skill["published_id"] for skill in skills if "parts" in skill}
    parts |= {s["id"] for s in skills if s["published_id"] in composed and "parts" not in s and "logits" not in s["outputs"]}
    owner = {}
    for skill in skills:
        for name in published_names(skill):
            key = folded(name)
            if key not in ids and (key not in owner or better(skill, owner[key][1], parts)):
                owner[key] = name, skill
    for name, target in chosen.items():
        if folded(target) not in ids:
            print(f"'{name}' is said to be '{target}', which is no skill")
        elif folded(name) not in ids:
            owner[folded(name)] = name, ids[folded(target)]
    return owner


def targets(names, skills, sources):
    """The names of names.json with the skill or kin each leads to: a skill of the model type of that name where only kin was
    known, and the whole model where a part of one is named."""
    parts = {part["skill"]: skill["id"] for skill in skills for part in skill.get("parts", [])}
    typed = {}
    for skill in skills:
        kind = folded(sources.get(skill["id"], {}).get("hf_model_type") or "")
        if kind and (kind not in typed or better(skill, typed[kind], parts)):
            typed[kind] = skill
    found = {}
    for name, entry in names.items():
        if "skill" not in entry and folded(name) in typed:
            entry = {"skill": typed[folded(name)]["id"]}
        found[name] = {key: parts.get(value, value) if key in ("skill", "kin") else value for key, value in entry.items()}
    return found


def generators(skills):
    """Names the generating skill of the same published model, or the whole of a part, for one that ends in logits and cannot
    generate itself."""
    whole = {part["skill"]: skill for skill in skills if "generation" in skill for part in skill.get("parts", [])}
    able = {}
    for skill in skills:
        if "generation" in skill:
            published = skill["published_id"]
            if published not in able or better(skill, able[published], ()):
                able[published] = skill
    for skill in skills:
        one = whole.get(skill["id"], able.get(skill["published_id"]))
        if one and "generation" not in skill and "logits" in skill.get("outputs", []):
            skill["generator"] = one["id"]


def shared_parameters(data, entry):
    """Of several graphs: weights of one name and shape are one."""
    import subprocess

    import onnx

    seen = {}
    for skeleton in entry["parts"].values():
        packed = subprocess.run(["zstd", "-dcq", data / f"{skeleton}.onnx.zst"], check=True, stdout=subprocess.PIPE)
        for tensor in onnx.load_from_string(packed.stdout).graph.initializer:
            if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
                own = tensor.name if "." in tensor.name else (skeleton, tensor.name)
                seen[own, tuple(tensor.dims)] = prod(tensor.dims)
    return sum(seen.values())


def finish(data):
    """Derives anew what the hand-written tables and the ports tell."""
    skills = [skill for skill in read(data / "skills.json") if "parts" not in skill]
    sources = {source["id"]: source for source in read(data / "sources.json")}
    marks = read(data / "marks.json")
    by_id = {skill["id"]: skill for skill in skills}
    limit(data, skills)
    for skill in skills:
        for key in DERIVED:
            skill.pop(key, None)
        shapes = sources[skill["id"]].get("verified", {}).get("output_shapes_last_run", {})
        skill["rows"] = next((shape[1] for name, shape in shapes.items() if name == "image_features"), None)
        made = generation(skill)
        if made:
            skill["generation"] = made
    for entry in read(data / "composites.json"):
        if all(skeleton in by_id for skeleton in entry["parts"].values()):
            entry["parameters"] = shared_parameters(data, entry)
            skills.append(composed(entry, by_id))
        else:
            print(f"{entry['id']}: left out, there is no {', no '.join(s for s in entry['parts'].values() if s not in by_id)}")
    for name, why in marks["unrepeatable"].items():
        if name in by_id:
            by_id[name]["unrepeatable"] = why
    generators(skills)
    for skill in skills:
        skill.pop("rows", None)
    by_id = {skill["id"]: skill for skill in skills}
    chosen = dict(marks["answers"])
    names = targets(read(data / "names.json"), skills, sources)
    chosen.update({name: entry["skill"] for name, entry in names.items() if "skill" in entry})
    for kind, key in (("key", "key"), ("small", "small_of")):
        for name, target in marks[kind].items():
            if kind == "key":
                chosen[name] = target
            if target in by_id:
                by_id[target][key] = name
            else:
                print(f"{kind} {name}: there is no {target}")
    skills.sort(key=lambda skill: skill["id"])
    owner = owners(skills, chosen)
    for skill in skills:
        skill["aliases"] = sorted(name for name, known in owner.values() if known is skill)
    write(data / "skills.json", skills)
    write(data / "unavailable.json", unavailable(skills, names))


def unavailable(skills, names):
    """The names that no skill serves, each with its reason."""
    served = {folded(name) for skill in skills for name in [skill["id"], *skill["aliases"]]}
    ids = {skill["id"] for skill in skills}
    rows = {}
    for name in sorted(names):
        entry = names[name]
        if folded(name) in served or folded(name) in rows:
            continue
        kin = entry.get("kin")
        if kin and kin not in ids:
            sys.exit(f"the kin of '{name}' is '{kin}', which is no skill")
        why = entry.get("why") or f"it would be {entry['skill']}, which did not export"
        rows[folded(name)] = {"id": folded(name), "unavailable": why} | ({"kin": kin} if kin else {})
    return list(rows.values())
