//! Use counts of the cache's cells.
//!
//! A cell holds the state of one token. Sequences with a common beginning share its cells, so a cell is free
//! only when the last of them releases it.

/// The cells of the cache, as counted on this side.
#[derive(Debug)]
pub(crate) struct CacheCells {
    users: Vec<u16>,
    free: Vec<u32>,
}

impl CacheCells {
    pub(crate) fn new(count: u32) -> Self {
        Self {
            users: vec![0; count as usize],
            // Reversed, so that `pop` takes the lowest cell first.
            free: (0..count).rev().collect(),
        }
    }

    pub(crate) fn free(&self) -> usize {
        self.free.len()
    }

    /// Takes a free cell.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let cell = self.free.pop()?;
        self.users[cell as usize] = 1;
        Some(cell)
    }

    /// Adds a user to each of `cells`.
    pub(crate) fn share(&mut self, cells: &[u32]) -> Vec<u32> {
        for &cell in cells {
            self.users[cell as usize] += 1;
        }
        cells.to_vec()
    }

    /// Removes a user from each of `cells`.
    pub(crate) fn release(&mut self, cells: &[u32]) {
        for &cell in cells {
            let users = &mut self.users[cell as usize];
            *users = users.saturating_sub(1);
            if *users == 0 {
                self.free.push(cell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CacheCells;

    #[test]
    fn a_shared_cell_is_free_when_the_last_user_lets_go() {
        let mut cells = CacheCells::new(3);
        let first: Vec<u32> = [cells.take(), cells.take()].into_iter().flatten().collect();
        let second = cells.share(&first[..1]);
        assert_eq!(cells.free(), 1);
        cells.release(&first);
        assert_eq!(cells.free(), 2);
        cells.release(&second);
        assert_eq!(cells.free(), 3);
        assert!(cells.take().is_some() && cells.take().is_some() && cells.take().is_some());
        assert_eq!(cells.take(), None);
    }
}
