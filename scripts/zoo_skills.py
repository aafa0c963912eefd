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
DERIVED = "aliases key small_of generation generator unrepeatable relation which_part".split()
# How far the parameters of a full skill may be from those of the published model.
NEAR = 1e-3
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
    if "pipeline" in entry:
        return in_steps(entry, parts)
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


def in_steps(entry, parts):
    """A skill whose parts run one after the other, one of them once for each step of a scheduler. What it is follows from that one."""
    stepped = next(stage["part"] for stage in entry["pipeline"] if isinstance(stage, dict))
    main = parts[stepped]
    axes = {}
    for part in parts.values():
        for axis, limits in part["axes"].items():
            least, most = axes.get(axis, limits)
            axes[axis] = [max(least, limits[0]), min(most, limits[1])]
    kept = "published_id family architecture category task".split()
    reductions = list(dict.fromkeys(part["reduced"] for part in parts.values() if part["reduced"]))
    flops = []
    for count in main["flops"]:
        others = [flops_at(part, {axis: count["axes"][axis] for axis in part["axes"]}) for name, part in parts.items() if name != stepped]
        if None in others:
            continue
        # A host draws a curve through three counts.
        for steps in (1, 2, entry["usual"]["steps"]):
            flops.append({"value": sum(others) + steps * count["value"], "axes": {**count["axes"], "steps": steps}})
    return {
        "id": entry["id"],
        **{key: main[key] for key in kept},
        "parts": [{"name": name, "skill": part["id"], "axes": {}} for name, part in parts.items()],
        "pipeline": entry["pipeline"],
        "parameters": entry["parameters"],
        "parameters_read": sum(part["parameters_read"] for part in parts.values()),
        "reduced": "; ".join(reductions) or None,
        "axes": {**axes, "steps": entry["steps"]},
        "usual": entry["usual"],
        "flops": flops,
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
    """The better one answers to a name that several could: a full model before a part or a reduced one, a plain graph before
    one that takes a cache or a state, what is not reduced before what is."""
    cached = "parts" in record or any(port["name"].startswith("past_") for port in record["inputs"])
    return record["relation"] != "full", record["id"] in parts, cached, record["reduced"] is not None


def better(one, other, parts):
    """Where the rank does not tell, the larger one by a tenth or more, then the shorter id."""
    if rank(one, parts) != rank(other, parts):
        return rank(one, parts) < rank(other, parts)
    less, more = sorted([one["parameters"], other["parameters"]])
    if less < 0.9 * more:
        return one["parameters"] == more
    return (len(one["id"]), one["id"]) < (len(other["id"]), other["id"])


def relate(skills, parts):
    """Says of each skill what it is to the published model whose name it has: all of it, a part of it, or a smaller one.
    `parts` are said by hand; besides them, what is one of several graphs of a skill is a part of what that skill is."""
    wholes = {part["skill"]: (part["name"], skill["id"]) for skill in skills for part in skill.get("parts", [])}
    for skill in skills:
        which = parts.get(skill["id"])
        if not which and skill["id"] in wholes:
            which = "{} of {}".format(*wholes[skill["id"]])
        if not skill["published_id"]:
            skill["relation"] = None
        elif skill["reduced"]:
            skill["relation"] = "reduced"
        else:
            skill["relation"] = "part" if which else "full"
        if which:
            skill["which_part"] = which


def whole(skill, sources):
    """The published model and the class that a full skill is held against; `None` where its graphs are of several classes."""
    graphs = [part["skill"] for part in skill.get("parts", [])] or [skill["id"]]
    classes = {sources.get(graph, {}).get("hf_class") for graph in graphs}
    return (skill["published_id"], *classes) if skill["relation"] == "full" and len(classes) == 1 else None


def held_against(published, skills, sources):
    """Ends where a full skill has another number of parameters than its published model, and nothing says why."""
    rows = {(row["published_id"], row["class"]): row for row in published}
    for skill in skills:
        row = rows.get(whole(skill, sources))
        if not row:
            continue
        wanted = row.get("graphs", {}).get(skill["id"], row)["parameters"]
        if abs(skill["parameters"] / wanted - 1) > NEAR:
            sys.exit(f"{skill['id']} has {skill['parameters']:,} parameters, published.json says {wanted:,}")


def published_names(record):
    """The published id, with and without the publisher."""
    published = record["published_id"]
    return [published, published.rsplit("/", 1)[-1]] if published else []


def owners(skills, chosen):
    """Which skill answers to each name, besides its own id, and which is the nearest to a name that no full skill answers to.
    `chosen` is said by hand, and stands where it and the rule differ."""
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
    full = {key: known for key, known in owner.items() if known[1]["relation"] == "full"}
    return full, {key: known for key, known in owner.items() if key not in full}


def targets(names, skills, sources):
    """The names of names.json with the skill or kin each leads to: a whole model where a part of one is named, a full one of the same
    model type where a reduced one is, and a skill of the model type of that name where only kin was known."""
    by_id = {skill["id"]: skill for skill in skills}
    parts = {part["skill"]: skill["id"] for skill in skills for part in skill.get("parts", [])}
    kind_of = lambda skill: folded(sources.get(skill, {}).get("hf_model_type") or "")
    typed = {}
    for skill in skills:
        kind = kind_of(skill["id"])
        if kind and (kind not in typed or better(skill, typed[kind], parts)):
            typed[kind] = skill
    whole_of = lambda skill: parts.get(skill, skill)
    found = {}
    for name, entry in names.items():
        if "skill" not in entry and folded(name) in typed:
            entry = {"skill": typed[folded(name)]["id"]}
        named = by_id.get(whole_of(entry.get("skill")))
        like = typed.get(kind_of(entry.get("skill")))
        if named and like and named["relation"] != "full" and by_id[whole_of(like["id"])]["relation"] == "full":
            entry = {"skill": like["id"]}
        found[name] = {key: whole_of(value) if key in ("skill", "kin") else value for key, value in entry.items()}
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
    there = lambda row: (data / f"{row['id']}.onnx.zst").exists()
    sources = [source for source in read(data / "sources.json") if there(source)]
    write(data / "sources.json", sources)
    sources = {source["id"]: source for source in sources}
    skills = [skill for skill in read(data / "skills.json") if "parts" not in skill and there(skill)]
    marks = read(data / "marks.json")
    by_id = {skill["id"]: skill for skill in skills}
    limit(data, skills)
    for skill in skills:
        for key in DERIVED:
            skill.pop(key, None)
        shapes = (sources[skill["id"]].get("verified") or {}).get("output_shapes_last_run", {})
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
    relate(skills, marks["parts"])
    held_against(read(data / "published.json"), skills, sources)
    for name, why in marks["unrepeatable"].items():
        if name in by_id:
            by_id[name]["unrepeatable"] = why
    generators(skills)
    for skill in skills:
        skill.pop("rows", None)
    skills.sort(key=lambda skill: skill["id"])
    by_id = {skill["id"]: skill for skill in skills}
    names = targets(read(data / "names.json"), skills, sources)
    chosen = {short: target for name, target in marks["answers"].items() for short in (name, name.rsplit("/", 1)[-1])}
    chosen.update({name: entry["skill"] for name, entry in names.items() if "skill" in entry})
    for kind, key in (("key", "key"), ("small", "small_of")):
        for name, target in marks[kind].items():
            if kind == "key":
                chosen[name] = target
            if target in by_id:
                by_id[target][key] = name
            else:
                print(f"{kind} {name}: there is no {target}")
    full, lacking = owners(skills, chosen)
    for skill in skills:
        skill["aliases"] = sorted(name for name, known in full.values() if known is skill)
    write(data / "skills.json", skills)
    write(data / "unavailable.json", unavailable(skills, names, lacking))
    for table in ("traffic.json", "power.json"):
        write(data / table, [row for row in read(data / table) if row["id"] in by_id])


def unavailable(skills, names, lacking):
    """The names that no skill serves, each with its reason and the skill that is nearest, and what that one is to the name."""
    served = {folded(name) for skill in skills for name in [skill["id"], *skill["aliases"]]}
    by_id = {skill["id"]: skill for skill in skills}
    rows = {}
    for name in sorted(names):
        entry = names[name]
        if folded(name) in served or folded(name) in rows or folded(name) in lacking:
            continue
        kin = entry.get("kin")
        if kin and kin not in by_id:
            sys.exit(f"the kin of '{name}' is '{kin}', which is no skill")
        why = entry.get("why") or f"it would be {entry['skill']}, which did not export"
        rows[folded(name)] = {"id": folded(name), "unavailable": why} | ({"kin": kin, "relation": "kin"} if kin else {})
    for name, (_, skill) in lacking.items():
        if name not in served:
            rows[name] = {"id": name, "unavailable": lack(skill, skills), "kin": skill["id"], "relation": skill["relation"]}
    return [rows[name] for name in sorted(rows)]


def lack(skill, skills):
    """What the nearest skill is, and is not, of the model that was named."""
    published = skill["published_id"]
    if skill["relation"] == "part":
        parts = [one for one in skills if one["published_id"] == published and one["relation"] == "part"]
        if len(parts) == 1:
            return f"of {published} only a part is here: {skill['which_part']}"
        return f"of {published} only parts are here: " + ", ".join(f"{part['id']} ({part['which_part']})" for part in parts)
    which = f"{skill['which_part']}, " if "which_part" in skill else ""
    return f"of {published} only a reduced form is here: {which}{skill['reduced']}"
