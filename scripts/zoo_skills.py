"""What the records of plugins/zoo/data/skills.json hold beyond what was exported: how a model generates, the skills made of
several skeletons, the names each skill answers to, and the marks of key classes. scripts/zoo-import and scripts/zoo-flops
write them."""

import json
import re
import sys


def read(path):
    return json.loads(path.read_text())


def write(path, rows):
    """One record a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n" if rows else "[]\n")


def folded(name):
    """As the host compares names."""
    return name.lower().replace("_", "-")


# What is derived here, and so is dropped before it is derived anew.
DERIVED = "aliases key small_of generation generator".split()
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
    """Half of the cache is left to new tokens."""
    most = min(record["axes"].get("sequence", [1, 512])[1], (record["axes"].get("past", [0, 1023])[1] + 1) // 2)
    return [1, most]


def rank(record):
    """The better one answers to a name that several could: a plain graph before one that takes a cache or a state, what is not
    reduced before what is, the larger one where they differ by a tenth or more, then the shorter id."""
    cached = any(port["name"].startswith("past_") for port in record["inputs"])
    return cached, record["reduced"] is not None


def better(one, other):
    if rank(one) != rank(other):
        return rank(one) < rank(other)
    less, more = sorted([one["parameters"], other["parameters"]])
    if less < 0.9 * more:
        return one["parameters"] == more
    return (len(one["id"]), one["id"]) < (len(other["id"]), other["id"])


def published_names(record):
    """The published id, with and without the publisher."""
    published = record["published_id"]
    return [published, published.rsplit("/", 1)[-1]] if published else []


def name_skills(skills, answers, names):
    """Gives each skill its `aliases`. `answers` says which skill it is where the rule would say another."""
    ids = {folded(skill["id"]): skill for skill in skills}
    owner = {}
    for skill in sorted(skills, key=lambda skill: skill["id"]):
        for name in published_names(skill):
            key = folded(name)
            if key not in ids and (key not in owner or better(skill, owner[key][1])):
                owner[key] = name, skill
    chosen = dict(answers)
    chosen.update({name: entry["skill"] for name, entry in names.items() if "skill" in entry})
    for name, target in chosen.items():
        if folded(target) not in ids:
            sys.exit(f"'{name}' is said to be '{target}', which is no skill")
        if ids.get(folded(name)) not in (None, ids[folded(target)]):
            sys.exit(f"'{name}' is said to be '{target}', but is a skill of its own")
        if folded(name) not in ids:
            owner[folded(name)] = name, ids[folded(target)]
    for skill in skills:
        skill["aliases"] = []
    for name, skill in owner.values():
        skill["aliases"].append(name)
    for skill in skills:
        skill["aliases"].sort(key=lambda name: (name not in published_names(skill), name))


def finish(data):
    """Derives anew what the hand-written tables and the ports tell."""
    skills = [skill for skill in read(data / "skills.json") if "parts" not in skill]
    marks = read(data / "marks.json")
    names = read(data / "names.json")
    by_id = {skill["id"]: skill for skill in skills}
    for skill in skills:
        for key in DERIVED:
            skill.pop(key, None)
        made = generation(skill)
        if made:
            skill["generation"] = made
    for kind, key in (("key", "key"), ("small", "small_of")):
        for name, target in marks[kind].items():
            if target not in by_id:
                sys.exit(f"marks.json: {kind} {name} is '{target}', which is no skill")
            by_id[target][key] = name
    name_skills(skills, marks["answers"], names)
    skills.sort(key=lambda skill: skill["id"])
    write(data / "skills.json", skills)
