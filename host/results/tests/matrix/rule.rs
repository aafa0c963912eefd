use skillbench_results::matrix::{Rating, Status, rule};

#[test]
fn the_file_has_every_word_once_and_its_bounds_fall() {
    let rule = rule();
    assert_eq!(rule.ratings.iter().map(|one| one.name).collect::<Vec<_>>(), Rating::ALL);
    assert_eq!(rule.statuses.iter().map(|one| one.name).collect::<Vec<_>>(), Status::ALL);
    let bounds: Vec<f64> = rule.ratings.iter().filter_map(|one| one.at_least).collect();
    assert!(bounds.is_sorted_by(|one, next| one > next) && bounds.last() == Some(&0.0), "{bounds:?}");
    let colour = |text: &str| text.len() == 7 && text.starts_with('#');
    assert!(rule.ratings.iter().all(|one| colour(&one.colour) && colour(&one.ink)));
}

#[test]
fn names_are_those_of_files() {
    for rating in Rating::ALL {
        assert_eq!(serde_json::json!(rating), rating.name());
        assert_eq!(Rating::from_name(rating.name()), Some(rating));
    }
    for status in Status::ALL {
        assert_eq!(serde_json::json!(status), status.name());
    }
}

#[test]
fn a_bound_belongs_to_the_rating_above_it() {
    let of = |speedup| rule().rating(speedup).name();
    assert_eq!(
        [of(2.0), of(1.99), of(1.1), of(1.0), of(0.91), of(0.9)],
        ["high", "medium-high", "medium-high", "medium", "medium", "low"]
    );
}

#[test]
fn hardware_is_in_the_order_of_the_file_and_then_by_name() {
    let ids = ["rten", "openvino:GPU", "cuda", "cpu", "acme", "cuda"].map(String::from).to_vec();
    assert_eq!(rule().in_order(ids), ["cpu", "cuda", "openvino:GPU", "acme", "rten"]);
}
