//! Statistics: pure functions over slices.
//!
//! Two arms are always `a`, the reference, and `b`; a difference is b minus a.
//! Every function is total: it gives `None` where a value cannot be had
//! (too few values, no spread, a value that is not finite, an overflow) and never panics.
//!
//! | question | function |
//! |---|---|
//! | what the values are like | [`mean`], [`median`], [`sd`], [`min`], [`max`], [`quantile`] |
//! | how far apart | [`difference_of_means`] |
//! | how far apart, with an interval | [`welch()`], [`hodges_lehmann()`] |
//! | how far apart, without a unit | [`hedges_g()`], [`cliffs_delta()`] |
//! | could chance do that | [`welch()`], [`permutation()`] |
//! | over several comparisons | [`holm()`] |
//! | what could have been seen | [`smallest_p`], [`smallest_arm`], [`detectable_difference()`] |
//! | does one value stand out | [`outlier`] |

mod cliffs_delta;
mod descriptive;
mod detectable_difference;
mod grubbs;
mod hedges_g;
mod hodges_lehmann;
mod holm;
mod mann_whitney;
mod permutation;
mod students_t;
mod welch;

pub use cliffs_delta::cliffs_delta;
pub use descriptive::{difference_of_means, max, mean, median, min, quantile, sd};
pub use detectable_difference::detectable_difference;
pub use grubbs::outlier;
pub use hedges_g::hedges_g;
pub use hodges_lehmann::{HodgesLehmann, hodges_lehmann};
pub use holm::holm;
pub use permutation::{
    EXACT_SPLITS, Permutation, PermutationMethod, RANDOM_SPLITS, permutation, smallest_arm,
    smallest_p,
};
pub use welch::{Welch, welch};
