//! Execution time. The function does the work and says how many items that was; the host times the call from outside and makes a
//! throughput of it.

use crate::numbers::numbers;
use skillbench_plugin_api::sdk::Metrics;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::LazyLock;

const CUSTOMERS: u64 = 2_000;
const ORDERS: usize = 20_000;

/// Rows of a key and a value.
type Table = Vec<(u64, u64)>;

/// Customers and orders. What is made once is not timed: it falls into the first call, which the host reports apart.
static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    let customers = (0..CUSTOMERS).zip(numbers(1)).collect();
    let orders = numbers(2).map(|number| number % CUSTOMERS).zip(numbers(3)).take(ORDERS).collect();
    [customers, orders]
});

/// Joins orders with their customers by a hash table of the customers.
pub fn run_hash_join() -> Metrics {
    let [customers, orders] = &*TABLES;
    let by_id: HashMap<u64, u64> = customers.iter().copied().collect();
    let joined = orders.iter().filter_map(|(customer, amount)| Some(amount ^ by_id.get(customer)?));
    // A result that nobody uses may be left out by the compiler, with all the work for it.
    black_box(joined.fold(0, u64::wrapping_add));
    Metrics::new().items(ORDERS as u64)
}
