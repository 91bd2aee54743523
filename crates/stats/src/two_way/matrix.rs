//! The inverse of a matrix, as large as a load has rows.

/// The inverse of a positive definite matrix, by Gauss and Jordan.
pub(super) fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let one = |row: usize| (0..size).map(|column| if row == column { 1.0 } else { 0.0 }).collect();
    let mut inverse: Vec<Vec<f64>> = (0..size).map(one).collect();
    for pivot in 0..size {
        let scale = matrix[pivot][pivot];
        if scale.is_nan() || scale <= 0.0 {
            return None;
        }
        for half in [&mut matrix, &mut inverse] {
            half[pivot].iter_mut().for_each(|value| *value /= scale);
        }
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = matrix[row][pivot];
            for half in [&mut matrix, &mut inverse] {
                let of_pivot = half[pivot].clone();
                half[row].iter_mut().zip(of_pivot).for_each(|(value, it)| *value -= factor * it);
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_a_small_matrix_is_known() {
        let found = inverse(vec![vec![2.0, 1.0], vec![1.0, 2.0]]).unwrap();
        let expected = [[2.0 / 3.0, -1.0 / 3.0], [-1.0 / 3.0, 2.0 / 3.0]];
        for (line, wanted) in found.iter().zip(expected) {
            for (value, wanted) in line.iter().zip(wanted) {
                assert!((value - wanted).abs() < 1e-12, "{found:?}");
            }
        }
        assert!(inverse(vec![vec![1.0, 1.0], vec![1.0, 1.0]]).is_none());
    }
}
