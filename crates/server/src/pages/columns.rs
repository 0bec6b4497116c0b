//! Layout of a diagram's classes in two columns: links lead from left to right, with few crossings.
//!
//! A layered drawing after K. Sugiyama, S. Tagawa and M. Toda, *Methods for visual understanding of hierarchical system
//! structures*, IEEE Transactions on Systems, Man, and Cybernetics 11(2), 1981, with two layers: names are long and stand
//! outside the columns, and a third column would have no space for them. The layout is deterministic.

/// Costs of a link within a column and of one to the left. A difference of one class between the columns costs 1.
const SAME_COLUMN_COST: usize = 3;
const LEFTWARD_COST: usize = 1;
/// Number of times that the columns are ordered by each other, and that all neighbours are swapped.
const ORDERING_SWEEPS: usize = 8;
const MAX_SWAP_ROUNDS: usize = 40;

/// A link by its ends.
pub(super) type Link = (usize, usize);

/// Classes of each column from top to bottom. Those without links to others are at the bottom, alternating left and right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    left: Vec<usize>,
    right: Vec<usize>,
    unlinked: Vec<usize>,
}

/// Position of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) is_right: bool,
    /// Number of rows above its middle. The shorter column has larger distances.
    pub(super) down: f64,
}

impl Columns {
    /// Computes the layout of classes, numbered by descending size.
    pub(super) fn new(classes: usize, links: &[Link]) -> Self {
        let links: Vec<Link> = links
            .iter()
            .copied()
            .filter(|(from, to)| from != to)
            .collect();
        let (linked, unlinked): (Vec<usize>, Vec<usize>) = (0..classes)
            .partition(|class| links.iter().any(|(from, to)| from == class || to == class));
        let is_right = choose_sides(&linked, classes, &links);
        let (right, left) = linked.into_iter().partition(|&class| is_right[class]);
        let mut columns = Self {
            left,
            right,
            unlinked,
        };
        columns.order(&links);
        columns
    }

    /// Returns the place of each class.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut places = vec![
            Place {
                is_right: false,
                down: 0.0
            };
            self.left.len() + self.right.len() + self.unlinked.len()
        ];
        let above = self.linked_rows();
        for (column, is_right) in [(&self.left, false), (&self.right, true)] {
            for (row, &class) in column.iter().enumerate() {
                let down = (row as f64 + 0.5) / column.len() as f64 * above as f64;
                places[class] = Place { is_right, down };
            }
        }
        for (number, &class) in self.unlinked.iter().enumerate() {
            let down = (above + number / 2) as f64 + 0.5;
            places[class] = Place {
                is_right: number % 2 == 1,
                down,
            };
        }
        places
    }

    pub(super) fn rows(&self) -> usize {
        self.linked_rows() + self.unlinked.len().div_ceil(2)
    }

    fn linked_rows(&self) -> usize {
        self.left.len().max(self.right.len())
    }

    fn column(&mut self, is_right: bool) -> &mut Vec<usize> {
        if is_right {
            &mut self.right
        } else {
            &mut self.left
        }
    }

    fn order(&mut self, links: &[Link]) {
        // An order by means may also have more crossings, so the best one is kept.
        let mut best = (self.cost(links), self.clone());
        for sweep in 0..ORDERING_SWEEPS {
            let places = self.places();
            self.column(sweep % 2 == 0).sort_by(|&one, &other| {
                mean_linked_row(one, links, &places)
                    .total_cmp(&mean_linked_row(other, links, &places))
            });
            let cost = self.cost(links);
            if cost < best.0 {
                best = (cost, self.clone());
            }
        }
        *self = best.1;
        let mut cost = best.0;
        for _ in 0..MAX_SWAP_ROUNDS {
            let swapped = self.swap(links, cost);
            if swapped == cost {
                break;
            }
            cost = swapped;
        }
    }

    /// Swaps neighbours if that lowers the cost. Returns the new cost.
    fn swap(&mut self, links: &[Link], mut cost: f64) -> f64 {
        for is_right in [false, true] {
            for row in 1..self.column(is_right).len() {
                self.column(is_right).swap(row - 1, row);
                let swapped = self.cost(links);
                if swapped < cost {
                    cost = swapped;
                } else {
                    self.column(is_right).swap(row - 1, row);
                }
            }
        }
        cost
    }

    /// Counts crossings of links, plus the mean vertical distance of links as a share of the height.
    fn cost(&self, links: &[Link]) -> f64 {
        let places = self.places();
        // Links between the columns by their rows on the left and on the right.
        let mut across: Vec<(f64, f64)> = Vec::new();
        let (mut crossings, mut lengths) = (0_usize, 0.0);
        for &(from, to) in links {
            let (from, to) = (places[from], places[to]);
            lengths += (from.down - to.down).abs();
            if from.is_right == to.is_right {
                continue;
            }
            let (left, right) = if to.is_right {
                (from.down, to.down)
            } else {
                (to.down, from.down)
            };
            crossings += across
                .iter()
                // Two links cross if their ends have opposite orders on the two sides.
                .filter(|other| (left - other.0) * (right - other.1) < 0.0)
                .count();
            across.push((left, right));
        }
        crossings as f64 + lengths / self.linked_rows().max(1) as f64
    }
}

/// Computes the mean row of the classes linked to one class.
fn mean_linked_row(class: usize, links: &[Link], places: &[Place]) -> f64 {
    let linked = links.iter().filter_map(|&(from, to)| match class {
        _ if class == from => Some(places[to].down),
        _ if class == to => Some(places[from].down),
        _ => None,
    });
    let (sum, count) = linked.fold((0.0, 0.0), |(sum, count), down| (sum + down, count + 1.0));
    sum / f64::max(count, 1.0)
}

/// Chooses the classes of the right column: first those with more incoming than outgoing links, then by moves of one or two
/// classes that lower the cost.
fn choose_sides(linked: &[usize], classes: usize, links: &[Link]) -> Vec<bool> {
    let mut sides = Vec::with_capacity(classes);
    for class in 0..classes {
        let incoming = links.iter().filter(|(_, to)| *to == class).count();
        let outgoing = links.iter().filter(|(from, _)| *from == class).count();
        sides.push(incoming > outgoing);
    }
    let mut moves: Vec<(usize, usize)> = Vec::new();
    for (place, &one) in linked.iter().enumerate() {
        moves.extend(linked[..=place].iter().map(|&other| (one, other)));
    }
    let mut least = sides_cost(linked, &sides, links);
    // Every move lowers an integer, so the loop terminates.
    while let Some(better) = moves
        .iter()
        .map(|&pair| move_classes(&sides, pair))
        .find(|moved| sides_cost(linked, moved, links) < least)
    {
        least = sides_cost(linked, &better, links);
        sides = better;
    }
    sides
}

/// Moves one class, or two different ones.
fn move_classes(sides: &[bool], (one, other): (usize, usize)) -> Vec<bool> {
    let mut moved = sides.to_vec();
    moved[one] = !sides[one];
    moved[other] = !sides[other];
    moved
}

/// Sums the costs of links, and the difference of the numbers of classes in the columns.
fn sides_cost(linked: &[usize], is_right: &[bool], links: &[Link]) -> usize {
    let right = linked.iter().filter(|&&class| is_right[class]).count();
    let mut cost = right.abs_diff(linked.len() - right);
    for &(from, to) in links {
        cost += match (is_right[from], is_right[to]) {
            (false, true) => 0,
            (true, false) => LEFTWARD_COST,
            _ => SAME_COLUMN_COST,
        };
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_left_to_the_right() {
        // Words (0, 1, 2) and their features (3, 4), as in grammars.
        let words = Columns::new(5, &[(0, 3), (1, 3), (1, 4), (2, 4)]);
        assert_eq!((words.left, words.right), (vec![0, 1, 2], vec![3, 4]));
        let chain = Columns::new(4, &[(0, 1), (1, 2), (2, 3)]).places();
        assert_eq!(
            [0, 1, 2, 3].map(|class| chain[class].is_right),
            [false, true, false, true],
            "one leads back"
        );
    }

    #[test]
    fn what_can_be_drawn_without_crossings_is() {
        let links = [(0, 7), (1, 6), (2, 5), (3, 4)];
        let places = Columns::new(8, &links).places();
        assert!(
            links
                .iter()
                .all(|&(from, to)| places[from].down == places[to].down),
            "{places:?}"
        );
    }

    #[test]
    fn every_class_stands_somewhere_alone() {
        for classes in 0..=30_usize {
            let links: Vec<Link> = (0..classes * 2)
                .map(|n| ((n * 7 + 3) % classes, (n * 5 + 1) % classes / 2))
                .collect();
            let columns = Columns::new(classes, &links);
            let (places, rows) = (columns.places(), columns.rows());
            assert_eq!(places.len(), classes);
            for (class, one) in places.iter().enumerate() {
                assert!(
                    one.down >= 0.5 && one.down <= rows as f64 - 0.5,
                    "{columns:?}"
                );
                let is_near = |other: &&Place| {
                    one.is_right == other.is_right && (one.down - other.down).abs() < 0.99
                };
                assert_eq!(places[..class].iter().find(is_near), None, "{columns:?}");
            }
            assert_eq!(
                columns,
                Columns::new(classes, &links),
                "the same every time"
            );
        }
    }

    #[test]
    fn classes_of_no_link_stand_below_the_others() {
        let columns = Columns::new(5, &[(0, 0), (1, 2)]);
        assert_eq!(
            (columns.unlinked.as_slice(), columns.rows()),
            (&[0, 3, 4][..], 3)
        );
        let places = columns.places();
        assert_eq!(
            [1, 2, 0, 3, 4].map(|class| places[class].down),
            [0.5, 0.5, 1.5, 1.5, 2.5]
        );
    }
}
