//! The ranking as a table, with the columns that its question has.

use skillbench_report::{Cell, Table};
use skillbench_session::forecast::{Candidate, Cost, Per};

/// What was asked, as far as columns go by it.
#[derive(Clone, Copy)]
pub struct Shown {
    pub of_capacity: bool,
    /// `--price` was given.
    pub priced: bool,
}

impl Shown {
    /// What its figures may cost by the million.
    fn costs(self) -> &'static [Per] {
        match (self.priced, self.of_capacity) {
            (false, _) => &[],
            (true, true) => &[Per::Requests, Per::Tokens],
            (true, false) => &[Per::Items],
        }
    }

    /// From which price and which figure each cost is made.
    pub fn how_it_costs(self) -> &'static str {
        match self.of_capacity {
            true => {
                "a million requests cost price_per_hour (--price) / 3600 / figure x 1,000,000, the figure being the measured capacity; a million tokens that divided by the tokens of a request"
            }
            false => {
                "a million items cost price_per_hour (--price) / 3600 / figure x 1,000,000, the figure being the throughput of one item or batch after the other"
            }
        }
    }
}

struct Column {
    name: String,
    /// A narrow terminal does without it: the lowest goes first.
    least: Option<usize>,
    of: Box<dyn Fn(&Candidate) -> Cell>,
}

fn column(name: &str, least: Option<usize>, of: impl Fn(&Candidate) -> Cell + 'static) -> Column {
    Column { name: name.into(), least, of: Box::new(of) }
}

fn text(text: &Option<String>) -> Cell {
    Cell::maybe(text.clone(), Cell::from)
}

fn columns(shown: Shown) -> Vec<Column> {
    let mut all = vec![
        column("model", None, |one| Cell::text(&one.model)),
        column("axes", Some(10), |one| Cell::text(&one.axes)),
        column("precision", Some(8), |one| text(&one.precision)),
        column("rank", None, |one| Cell::maybe(one.rank.map(|rank| rank as u64), Cell::count)),
        column("hardware", None, |one| Cell::text(&one.hardware)),
        column("threads", Some(7), |one| Cell::maybe(one.threads, Cell::count)),
    ];
    if shown.of_capacity {
        all.push(column("workers", Some(6), |one| Cell::maybe(one.workers, Cell::count)));
        all.push(column("limits", Some(11), |one| text(&one.limits)));
    }
    all.extend([
        column("evidence", None, |one| one.evidence.name().into()),
        column("figure", None, |one| Cell::maybe(one.value, Cell::number)),
        column("unit", None, |one| one.unit.into()),
        column("low", Some(4), |one| Cell::maybe(one.interval.map(|ends| ends.0), Cell::number)),
        column("high", Some(5), |one| Cell::maybe(one.interval.map(|ends| ends.1), Cell::number)),
    ]);
    if shown.priced {
        all.push(column("price_per_hour", Some(4), |one| Cell::maybe(one.price, Cell::number)));
    }
    for per in shown.costs() {
        let name = format!("cost_per_million_{}", per.name());
        let cost = |end: fn(&Cost) -> Option<f64>| {
            move |one: &Candidate| Cell::maybe(one.cost(*per).and_then(end), Cell::number)
        };
        all.push(column(&name, None, cost(|cost| Some(cost.value))));
        all.push(column(&format!("{name}_low"), Some(3), cost(|cost| cost.low)));
        all.push(column(&format!("{name}_high"), Some(3), cost(|cost| cost.high)));
    }
    all.extend([
        column("run", Some(0), |one| text(&one.run)),
        column("date", Some(2), |one| text(&one.date)),
        column("newer_try", Some(1), |one| text(&one.newer)),
    ]);
    if !shown.of_capacity {
        all.push(column("within", Some(3), |one| text(&one.within)));
    }
    all.push(column("note", Some(9), |one| {
        Cell::maybe(Some(one.note.clone()).filter(|note| !note.is_empty()), Cell::from)
    }));
    all
}

pub fn table(ranked: &[Candidate], shown: Shown) -> Table {
    let columns = columns(shown);
    let mut least: Vec<(usize, String)> =
        columns.iter().filter_map(|column| Some((column.least?, column.name.clone()))).collect();
    least.sort_by_key(|(place, _)| *place);
    Table {
        rows: ranked.iter().map(|one| columns.iter().map(|column| (column.of)(one)).collect()).collect(),
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        least: least.into_iter().map(|(_, name)| name).collect(),
        ..Table::default()
    }
}
