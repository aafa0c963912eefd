//! Which backends may run side by side: those that share neither a device nor cores.
//!
//! A lane has cores of its own, and its backends run one after the other. What fits in no lane runs alone, after the lanes. Here is
//! only the layout; `parallel` carries it out.

use std::path::PathBuf;

/// What a backend needs for itself.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// Index into the plan's backends.
    pub backend: usize,
    pub name: String,
    /// `None`: it computes on the processor, be it as an emulation of something else.
    pub accelerator: Option<Accelerator>,
    /// Threads that were asked for.
    pub threads: Option<u64>,
    pub cells: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Accelerator {
    pub library: PathBuf,
    pub id: String,
    pub kind: String,
    pub name: String,
}

impl Accelerator {
    /// Whether two may be one piece of hardware. A plugin knows its own devices apart; two plugins of the same kind of hardware do not
    /// tell which of it each means, and a browser computes on whatever it finds.
    fn may_be(&self, other: &Accelerator) -> bool {
        if self.library == other.library {
            return self.id == other.id;
        }
        self.kind == other.kind || self.is_browser() || other.is_browser()
    }

    fn is_browser(&self) -> bool {
        self.kind == "browser"
    }
}

impl Claim {
    /// How many of `all` cores. An accelerator needs one for the threads that feed it; a browser may compute on the processor just as well.
    fn need(&self, all: usize) -> usize {
        match (self.threads, &self.accelerator) {
            (Some(threads), _) => usize::try_from(threads).unwrap_or(all).clamp(1, all),
            (None, Some(device)) if !device.is_browser() => 1,
            (None, _) => all,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lane {
    /// From 1.
    pub number: usize,
    /// Processors; both threads of a core where it has two.
    pub cores: Vec<usize>,
    /// Indices into the plan's backends.
    pub backends: Vec<usize>,
    /// Of these, those on accelerators that nobody gave a number of threads: they get as many as the lane has cores.
    pub fed: Vec<usize>,
    width: usize,
}

impl Lane {
    /// How many threads a backend of this lane is given; `None`: as the plan says.
    pub fn threads(&self, backend: usize) -> Option<usize> {
        self.fed.contains(&backend).then_some(self.width)
    }
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    /// None, or two at least.
    pub lanes: Vec<Lane>,
    /// How it is gone about, a sentence each.
    pub notes: Vec<String>,
    /// What was asked for and is not done, with the reason and a way out.
    pub warnings: Vec<String>,
}

/// Lays lanes out over physical cores. Accelerators choose first: each takes one core, and there is nothing else for them to wait on.
pub(super) fn lay_out(claims: &[Claim], cores: &[Vec<usize>]) -> Layout {
    let all = cores.len();
    let mut layout = Layout::default();
    let mut free = cores.iter();
    let mut waiting: Vec<&Claim> = vec![];
    let mut ordered: Vec<&Claim> = claims.iter().collect();
    ordered.sort_by_key(|claim| claim.accelerator.is_none());
    for claim in ordered {
        let need = claim.need(all);
        let of = |lane: &Lane| claims.iter().filter(|other| lane.backends.contains(&other.backend)).collect::<Vec<_>>();
        let rival = |lane: &Lane| {
            of(lane).into_iter().find(|other| match (&claim.accelerator, &other.accelerator) {
                (Some(own), Some(theirs)) => own.may_be(theirs),
                _ => false,
            })
        };
        let rivals: Vec<usize> = (0..layout.lanes.len()).filter(|lane| rival(&layout.lanes[*lane]).is_some()).collect();
        let place = match rivals[..] {
            [] if need <= free.len() => {
                let cores = free.by_ref().take(need).flatten().copied().collect();
                layout.lanes.push(Lane { number: layout.lanes.len() + 1, cores, width: need, ..Lane::default() });
                Some(layout.lanes.len() - 1)
            }
            [] => {
                let wide = (0..layout.lanes.len()).filter(|lane| layout.lanes[*lane].width >= need);
                let cells = |lane: &usize| of(&layout.lanes[*lane]).iter().map(|other| other.cells).sum::<usize>();
                wide.min_by_key(cells).inspect(|lane| {
                    let before = named(&of(&layout.lanes[*lane]));
                    layout.notes.push(format!("{} follows {before}: no core is left for it", claim.name));
                })
            }
            [lane] if layout.lanes[lane].width >= need => rival(&layout.lanes[lane]).map(|other| {
                let on = other.accelerator.as_ref().map_or("", |device| &device.name);
                layout.notes.push(format!("{} follows {}: both may be on {on}", claim.name, other.name));
                lane
            }),
            _ => None,
        };
        match place {
            Some(lane) => {
                let lane = &mut layout.lanes[lane];
                lane.backends.push(claim.backend);
                lane.fed.extend((claim.accelerator.is_some() && claim.threads.is_none()).then_some(claim.backend));
            }
            None => waiting.push(claim),
        }
    }
    conclude(layout, claims, &waiting, all)
}

/// Puts into words what came out. One lane is none.
fn conclude(mut layout: Layout, claims: &[Claim], waiting: &[&Claim], all: usize) -> Layout {
    let on_processor = claims.iter().filter(|claim| claim.accelerator.is_none()).count();
    // Every accelerator takes a core before.
    let each = all.saturating_sub(claims.len() - on_processor).checked_div(on_processor).unwrap_or(1).max(1);
    if layout.lanes.len() < 2 {
        let greedy: Vec<&Claim> = claims.iter().filter(|claim| claim.need(all) == all).collect();
        let why = match claims {
            [] => "no backend can be used here".to_string(),
            [one] => format!("{} is the only backend here that can be used", one.name),
            _ if all < 2 => "there is only one core".into(),
            _ if !greedy.is_empty() => {
                format!("{} would use all {all} cores; with --threads {each} they need not", named(&greedy))
            }
            _ => layout.notes.join("; "),
        };
        return Layout { warnings: vec![format!("nothing runs side by side: {why}")], ..Layout::default() };
    }
    let told = layout.lanes.iter().map(|lane| {
        let own: Vec<&Claim> = claims.iter().filter(|claim| lane.backends.contains(&claim.backend)).collect();
        let cores: Vec<String> = lane.cores.iter().map(usize::to_string).collect();
        let noun = if cores.len() == 1 { "core" } else { "cores" };
        format!("{} on {noun} {}", named(&own), cores.join(", "))
    });
    let lanes = told.collect::<Vec<_>>().join("; ");
    layout.notes.insert(0, format!("side by side: {lanes}"));
    layout.notes.insert(1, SHARED.into());
    layout.warnings.extend(waiting.iter().map(|claim| {
        let (name, need) = (&claim.name, claim.need(all));
        match &claim.accelerator {
            Some(device) if need < all => format!("{name} runs alone, after the others: they use {} or its cores", device.name),
            _ => format!("{name} runs alone, after the others: it would use {need} of {all} cores; --threads {each} asks for fewer"),
        }
    }));
    layout
}

/// What no pinning takes apart.
const SHARED: &str =
    "memory bandwidth, caches and turbo are still shared: figures may be worse than those of a run by itself";

/// "rten and cpu".
fn named(claims: &[&Claim]) -> String {
    claims.iter().map(|claim| claim.name.as_str()).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_processor(backend: usize, name: &str, threads: Option<u64>) -> Claim {
        Claim { backend, name: name.into(), accelerator: None, threads, cells: 2 }
    }

    fn on(backend: usize, name: &str, id: &str, kind: &str) -> Claim {
        let device =
            Accelerator { library: name.into(), id: id.into(), kind: kind.into(), name: format!("the {kind}") };
        Claim { accelerator: Some(device), ..on_processor(backend, name, None) }
    }

    fn cores(count: usize) -> Vec<Vec<usize>> {
        (0..count).map(|core| vec![core]).collect()
    }

    fn lanes(layout: &Layout) -> Vec<(&[usize], &[usize])> {
        layout.lanes.iter().map(|lane| (&lane.backends[..], &lane.cores[..])).collect()
    }

    #[test]
    fn two_backends_with_a_thread_each_have_a_core_each() {
        let layout = lay_out(&[on_processor(0, "rten", Some(1)), on_processor(1, "cpu", Some(1))], &cores(2));
        assert_eq!(lanes(&layout), [(&[0][..], &[0][..]), (&[1], &[1])]);
        assert_eq!(layout.notes[0], "side by side: rten on core 0; cpu on core 1");
        assert!(layout.notes[1].contains("memory bandwidth") && layout.warnings.is_empty(), "{layout:?}");
    }

    #[test]
    fn backends_that_use_every_core_are_not_side_by_side_and_the_way_out_is_told() {
        let layout = lay_out(&[on_processor(0, "rten", None), on_processor(1, "cpu", None)], &cores(2));
        assert!(layout.lanes.is_empty());
        let told = "nothing runs side by side: rten and cpu would use all 2 cores; with --threads 1 they need not";
        assert_eq!(layout.warnings, [told]);
    }

    #[test]
    fn one_core_or_one_backend_make_no_lanes() {
        let both = [on_processor(0, "rten", Some(1)), on_processor(1, "cpu", Some(1))];
        assert!(lay_out(&both, &cores(1)).warnings[0].ends_with("there is only one core"));
        assert!(lay_out(&both[..1], &cores(4)).warnings[0].contains("rten is the only backend"));
        assert!(lay_out(&[], &cores(4)).lanes.is_empty());
    }

    #[test]
    fn an_accelerator_takes_one_core_and_as_many_threads_unless_asked_otherwise() {
        let layout = lay_out(&[on_processor(0, "cpu", Some(2)), on(1, "cuda", "0", "gpu")], &cores(4));
        assert_eq!(lanes(&layout), [(&[1][..], &[0][..]), (&[0], &[1, 2])]);
        assert_eq!((layout.lanes[0].threads(1), layout.lanes[1].threads(0)), (Some(1), None));
        let asked = Claim { threads: Some(2), ..on(1, "cuda", "0", "gpu") };
        let layout = lay_out(&[asked, on_processor(0, "cpu", Some(1))], &cores(4));
        assert_eq!((layout.lanes[0].cores.len(), layout.lanes[0].threads(1)), (2, None));
    }

    #[test]
    fn what_may_be_one_device_is_one_lane() {
        let layout = lay_out(
            &[
                on(0, "cuda", "0", "gpu"),
                on(1, "cuda", "1", "gpu"),
                on(2, "openvino", "NPU", "npu"),
                on_processor(3, "cpu", Some(1)),
            ],
            &cores(8),
        );
        assert_eq!(layout.lanes.len(), 4, "a plugin knows its devices apart, and an NPU is no GPU: {layout:?}");
        let layout = lay_out(
            &[on(0, "cuda", "0", "gpu"), on(1, "openvino", "GPU", "gpu"), on_processor(2, "cpu", Some(1))],
            &cores(8),
        );
        assert_eq!(lanes(&layout), [(&[0, 1][..], &[0][..]), (&[2], &[1])]);
        assert!(layout.notes.contains(&"openvino follows cuda: both may be on the gpu".into()), "{layout:?}");
        let layout =
            lay_out(&[on(0, "cuda", "0", "gpu"), on(1, "cuda", "1", "gpu"), on(2, "web", "0", "browser")], &cores(8));
        assert_eq!(layout.lanes.len(), 2);
        assert!(layout.warnings[0].starts_with("web runs alone, after the others"), "it may be either: {layout:?}");
        let layout = lay_out(&[on_processor(0, "rten", Some(1)), on(1, "web", "0", "browser")], &cores(2));
        assert!(layout.lanes.is_empty() && layout.warnings[0].contains("web would use all 2 cores"), "{layout:?}");
    }

    #[test]
    fn more_backends_than_cores_follow_each_other_and_a_greedy_one_runs_alone() {
        let claims = [
            on_processor(0, "rten", Some(1)),
            on_processor(1, "cpu", Some(1)),
            Claim { cells: 1, ..on_processor(2, "openvino", Some(1)) },
            on_processor(3, "webnn", None),
        ];
        let layout = lay_out(&claims, &cores(2));
        assert_eq!(lanes(&layout), [(&[0, 2][..], &[0][..]), (&[1], &[1])]);
        assert!(layout.notes.contains(&"openvino follows rten: no core is left for it".into()), "{layout:?}");
        let told = "webnn runs alone, after the others: it would use 2 of 2 cores; --threads 1 asks for fewer";
        assert_eq!(layout.warnings, [told]);
    }

    #[test]
    fn a_core_with_two_threads_is_not_split() {
        let layout =
            lay_out(&[on_processor(0, "rten", Some(1)), on_processor(1, "cpu", Some(1))], &[vec![0, 2], vec![1, 3]]);
        assert_eq!(lanes(&layout), [(&[0][..], &[0, 2][..]), (&[1], &[1, 3])]);
    }
}
