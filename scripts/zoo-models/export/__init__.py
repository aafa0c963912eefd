"""How a model class becomes a skeleton: its specification, the graph, the rules for its weights, the proof that it runs."""
