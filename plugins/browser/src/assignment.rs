//! Where the nodes of a graph went, as ONNX Runtime logged it at load.

/// Nodes that one provider has, with their operators where they were listed.
struct Share {
    provider: String,
    nodes: u64,
    operators: Vec<String>,
}

/// The nodes of a loaded graph. A provider may have fused many into one; then its own count from before is told, too.
pub(crate) struct Assignment {
    shares: Vec<Share>,
    /// How many nodes the graph had when providers chose theirs, and how many of them the provider took.
    chosen: Option<(u64, u64)>,
}

/// How many nodes a provider has of how many, and what the others are.
pub(crate) struct Tally {
    pub total: u64,
    pub here: u64,
    /// Operators of the nodes that are elsewhere.
    pub elsewhere: Vec<String>,
}

impl Assignment {
    /// `None` where the log does not tell.
    pub fn read<'l>(log: impl Iterator<Item = &'l str>) -> Option<Assignment> {
        let mut found = Assignment { shares: vec![], chosen: None };
        for line in log {
            if let (Some(total), Some(taken)) =
                (number(line, "number of nodes in the graph: "), number(line, "number of nodes supported by WebNN: "))
            {
                found.chosen = Some((total, taken));
            } else if let (Some((_, rest)), Some(nodes)) =
                (line.split_once("placed on ["), number(line, "Number of nodes: "))
            {
                let provider = rest.split(']').next().unwrap_or_default().to_string();
                found.shares.push(Share { provider, nodes, operators: vec![] });
            } else if let (Some(share), Some((_, node))) = (found.shares.last_mut(), line.split_once("]   ")) {
                share.operators.push(node.split(' ').next().unwrap_or_default().to_string());
            }
        }
        (!found.shares.is_empty()).then_some(found)
    }

    pub fn tally(&self, provider: &str) -> Tally {
        let (ours, others): (Vec<&Share>, Vec<&Share>) =
            self.shares.iter().partition(|share| share.provider == provider);
        let placed: u64 = ours.iter().map(|share| share.nodes).sum();
        let away: u64 = others.iter().map(|share| share.nodes).sum();
        // Nodes that were fused count as what they were.
        let here = self.chosen.map_or(placed, |(_, taken)| if placed == 0 { 0 } else { taken });
        let mut elsewhere: Vec<String> = others.iter().flat_map(|share| share.operators.clone()).collect();
        elsewhere.sort();
        elsewhere.dedup();
        Tally { total: here + away, here, elsewhere }
    }
}

fn number(line: &str, before: &str) -> Option<u64> {
    let rest = line.split_once(before)?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Assignment;

    const ALL: &str = "\
2026-11-21 16:38:05.62 [I:onnxruntime:, webnn_execution_provider.cc:158 GetCapability] WebNNExecutionProvider::GetCapability, number of partitions supported by WebNN: 1 number of nodes in the graph: 96 number of nodes supported by WebNN: 96
2026-11-21 16:38:05.67 [V:onnxruntime:, session_state.cc:1377 VerifyEachNodeIsAssignedToAnEp] Node placements
2026-11-21 16:38:05.67 [V:onnxruntime:, session_state.cc:1380 VerifyEachNodeIsAssignedToAnEp]  All nodes placed on [WebNNExecutionProvider]. Number of nodes: 1";

    #[test]
    fn fused_nodes_count_as_what_they_were() {
        let tally = Assignment::read(ALL.lines()).unwrap().tally("WebNNExecutionProvider");
        assert_eq!((tally.total, tally.here, tally.elsewhere.len()), (96, 96, 0));
    }

    #[test]
    fn a_log_without_placements_tells_nothing() {
        assert!(Assignment::read(ALL.lines().take(2)).is_none());
    }
}
