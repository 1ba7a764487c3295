//! Which divisions a stage looks at, by what is known of their numbers.

use crate::hash::QuickMap;
use crate::indices::Ranges;
use crate::llvm::FunctionValue;
use crate::loops::Graph;

/// Those of a function's divisions of which what is known of its numbers says something. All are looked at before any is
/// changed: what divisions are of follows from each other.
pub fn by_ranges<'ctx, T>(
    function: FunctionValue<'ctx>,
    mut found: Vec<T>,
    says: impl Fn(&T, &Ranges<'_, 'ctx>) -> bool,
) -> Vec<T> {
    if !found.is_empty() {
        let (graph, none, same) = (Graph::of(function), QuickMap::default(), QuickMap::default());
        let ranges = Ranges::of_function(&graph, &none, &same);
        found.retain(|one| says(one, &ranges));
    }
    found
}
