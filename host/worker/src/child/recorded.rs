//! The operators that an engine recorded, summed up by type and by node.

use skillbench_plugin_api::Operator;
use skillbench_record::OperatorCost;
use std::collections::{BTreeMap, BTreeSet};

/// What the engine told of a part's runs.
pub struct Recorded<'a> {
    pub operators: &'a [Operator],
    pub runs: usize,
}

impl Recorded<'_> {
    /// Durations are means over the runs, so that each operator is told but once.
    pub fn means(&self) -> bool {
        self.operators.iter().any(|operator| operator.run.is_none())
    }

    pub fn with_moments(&self) -> bool {
        self.operators.iter().all(|operator| operator.run.is_some() && operator.start_ns.is_some())
    }

    /// In how many runs the operators lie.
    fn weight(&self) -> f64 {
        if self.means() { 1.0 } else { self.runs.max(1) as f64 }
    }

    /// The sum over the operators of one run.
    pub fn total_ms(&self) -> f64 {
        milliseconds(self.operators) / self.weight()
    }

    pub fn per_run(&self) -> f64 {
        self.operators.len() as f64 / self.weight()
    }

    /// What the engine cannot tell.
    pub fn notes(&self) -> Vec<String> {
        let any = |test: fn(&Operator) -> bool| self.operators.iter().any(test);
        let all = [
            (
                self.means(),
                "the engine tells means over all runs since the load, those before the recording included; what took less than its \
                 clock can tell is not among them",
            ),
            (!self.with_moments(), "the engine tells no moments: the trace lays the operators of a run end to end"),
            (
                any(|operator| operator.as_seen_by_host),
                "some durations end where the host's call returned: the device behind it may have worked for longer",
            ),
        ];
        all.into_iter().filter(|(holds, _)| *holds && !self.operators.is_empty()).map(|(_, text)| text.into()).collect()
    }

    pub fn by_type(&self) -> Vec<OperatorCost> {
        self.grouped(|operator| (&operator.kind, None))
    }

    /// An engine that gives its nodes no names has none here.
    pub fn by_node(&self) -> Vec<OperatorCost> {
        self.grouped(|operator| (&operator.kind, Some(&*operator.name)))
    }

    fn grouped<'o>(&'o self, key: impl Fn(&'o Operator) -> (&'o String, Option<&'o str>)) -> Vec<OperatorCost> {
        let mut groups: BTreeMap<_, Vec<&Operator>> = BTreeMap::new();
        for operator in self.operators {
            let (kind, name) = key(operator);
            if name != Some("") {
                groups.entry((kind, name, &operator.device)).or_default().push(operator);
            }
        }
        let all = milliseconds(self.operators);
        let cost = |((kind, name, device), group): ((&String, Option<&str>, &String), Vec<&Operator>)| {
            let kernels: BTreeSet<&str> = group.iter().map(|operator| &*operator.kernel).collect();
            let total = milliseconds(group.iter().copied());
            OperatorCost {
                kind: kind.clone(),
                name: name.map(String::from),
                kernel: kernels
                    .first()
                    .filter(|kernel| kernels.len() == 1 && !kernel.is_empty())
                    .map(|k| k.to_string()),
                device: device.clone(),
                count: group.len() as f64 / self.weight(),
                total_ms: total / self.weight(),
                mean_ms: total / group.len() as f64,
                share: if all > 0.0 { total / all } else { 0.0 },
            }
        };
        let mut costs: Vec<OperatorCost> = groups.into_iter().map(cost).collect();
        costs.sort_by(|one, other| other.total_ms.total_cmp(&one.total_ms));
        costs
    }
}

fn milliseconds<'o>(operators: impl IntoIterator<Item = &'o Operator>) -> f64 {
    operators.into_iter().map(|operator| operator.duration_ns as f64).sum::<f64>() * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(run: Option<u64>, kind: &str, name: &str, ms: u64) -> Operator {
        let (kind, name, kernel) = (kind.into(), name.into(), "gemm".into());
        Operator { run, duration_ns: ms * 1_000_000, kind, name, kernel, device: "cpu".into(), ..Operator::default() }
    }

    #[test]
    fn figures_are_those_of_one_run() {
        let one = |run| [operator(Some(run), "MatMul", "a", 6), operator(Some(run), "MatMul", "b", 2)];
        let mut operators: Vec<Operator> = (0..2).flat_map(one).collect();
        operators.extend((0..2).map(|run| operator(Some(run), "Add", "", 2)));
        let recorded = Recorded { operators: &operators, runs: 2 };
        assert_eq!((recorded.total_ms(), recorded.per_run()), (10.0, 3.0));
        let [products, sums] = &recorded.by_type()[..] else { panic!("two types") };
        assert_eq!((products.count, products.total_ms, products.mean_ms, products.share), (2.0, 8.0, 4.0, 0.8));
        assert_eq!((products.kind.as_str(), products.name.as_deref()), ("MatMul", None));
        assert_eq!((sums.count, sums.kernel.as_deref()), (1.0, Some("gemm")));
        let nodes: Vec<_> = recorded.by_node().into_iter().map(|node| (node.name.unwrap(), node.total_ms)).collect();
        assert_eq!(nodes, [("a".into(), 6.0), ("b".into(), 2.0)], "a node without a name is none");
        assert!(recorded.notes().iter().any(|note| note.contains("no moments")), "{:?}", recorded.notes());
    }

    #[test]
    fn means_stand_for_one_run_however_many_there_were() {
        let operators = [operator(None, "MatMul", "a", 6), operator(None, "Add", "b", 2)];
        let recorded = Recorded { operators: &operators, runs: 5 };
        assert_eq!((recorded.total_ms(), recorded.per_run()), (8.0, 2.0));
        assert_eq!(recorded.by_type()[0].count, 1.0);
        assert!(recorded.notes()[0].contains("means"), "{:?}", recorded.notes());
    }

    #[test]
    fn an_engine_that_tells_all_needs_no_note_and_one_behind_the_hosts_back_does() {
        let mut known = [Operator { start_ns: Some(3), ..operator(Some(0), "MatMul", "a", 6) }];
        assert!(Recorded { operators: &known, runs: 1 }.notes().is_empty());
        known[0].as_seen_by_host = true;
        assert_eq!(Recorded { operators: &known, runs: 1 }.notes().len(), 1);
    }
}
