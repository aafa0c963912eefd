//! Which columns of a table a width has room for, and how wide each becomes.
//!
//! Columns that a table can do without go first, one by one. Texts of several words wrap. Where that is not enough, long words break, and
//! at last the columns go that stand furthest to the right.

/// No column of text is narrower, unless it stands alone.
const LEAST: usize = 12;

/// A column, before it is known how wide it becomes. Widths are in characters of a terminal.
#[derive(Clone, Debug)]
pub struct Column {
    /// The widest line.
    pub natural: usize,
    /// As narrow as it gets by wrapping between words.
    pub narrow: usize,
    /// Whether its words may break: figures stay whole.
    pub is_text: bool,
    /// When it goes, where room is short: the smallest first. `None`: only where nothing else helps.
    pub goes: Option<usize>,
}

impl Column {
    fn wrapped(&self) -> usize {
        self.natural.min(self.narrow)
    }

    fn broken(&self) -> usize {
        if self.is_text { self.wrapped().min(LEAST) } else { self.wrapped() }
    }
}

/// The width of each column that stays; `None` for one that goes. `gap` lies between two columns.
pub fn fit(columns: &[Column], room: usize, gap: usize) -> Vec<Option<usize>> {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let fits = |kept: &[usize], width: fn(&Column) -> usize| {
        kept.iter().map(|place| width(&columns[*place]) + gap).sum::<usize>() <= room.saturating_add(gap)
    };
    let mut leaving: Vec<usize> = kept.iter().copied().filter(|place| columns[*place].goes.is_some()).collect();
    leaving.sort_by_key(|place| columns[*place].goes);
    for place in leaving {
        if fits(&kept, Column::wrapped) {
            break;
        }
        kept.retain(|other| *other != place);
    }
    while kept.len() > 1 && !fits(&kept, Column::broken) {
        kept.pop();
    }
    let least = if fits(&kept, Column::wrapped) { Column::wrapped } else { Column::broken };
    let free = room.saturating_sub(gap * kept.len().saturating_sub(1));
    let stay: Vec<&Column> = kept.iter().map(|place| &columns[*place]).collect();
    let mut widths = vec![None; columns.len()];
    for (place, width) in kept.iter().zip(shared(&stay, free, least)) {
        widths[*place] = Some(width.clamp(1, free.max(1)));
    }
    widths
}

/// Each column gets its least, and the narrowest is filled first: who needs little has all of it, the widest share what is left.
fn shared(columns: &[&Column], room: usize, least: fn(&Column) -> usize) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| least(column)).collect();
    let mut left = room.saturating_sub(widths.iter().sum());
    while left > 0 {
        let wanting = (0..columns.len()).filter(|place| widths[*place] < columns[*place].natural);
        let Some(narrowest) = wanting.min_by_key(|place| widths[*place]) else { break };
        widths[narrowest] += 1;
        left -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(natural: usize, narrow: usize, goes: Option<usize>) -> Column {
        Column { natural, narrow, is_text: true, goes }
    }

    fn figure(natural: usize) -> Column {
        Column { natural, narrow: natural, is_text: false, goes: None }
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(fit(&[text(10, 10, None), text(5, 5, Some(0))], 17, 2), [Some(10), Some(5)]);
        assert_eq!(fit(&[], 17, 2), []);
    }

    #[test]
    fn columns_go_in_their_order_until_the_rest_fits() {
        let columns = [text(10, 10, None), text(20, 20, Some(1)), text(20, 20, Some(0)), figure(5)];
        assert_eq!(fit(&columns, 40, 2), [Some(10), Some(20), None, Some(5)]);
        assert_eq!(fit(&columns, 30, 2), [Some(10), None, None, Some(5)]);
    }

    #[test]
    fn text_wraps_before_a_column_goes() {
        let columns = [text(10, 10, None), text(200, 16, None), text(5, 5, Some(0))];
        assert_eq!(fit(&columns, 80, 2), [Some(10), Some(61), Some(5)]);
    }

    #[test]
    fn no_table_is_wider_than_its_room_and_figures_stay_whole() {
        let columns = [text(200, 200, None), figure(7), text(200, 200, None), figure(5)];
        for room in 7..300 {
            let widths = fit(&columns, room, 2);
            let kept: Vec<usize> = widths.iter().flatten().copied().collect();
            assert!(kept.iter().sum::<usize>() + 2 * (kept.len() - 1) <= room, "{room}: {widths:?}");
            assert!(widths[1].is_none_or(|width| width == 7), "{room}: {widths:?}");
        }
        let many = vec![figure(8); 100];
        assert_eq!(fit(&many, 80, 2).iter().flatten().count(), 8);
    }
}
