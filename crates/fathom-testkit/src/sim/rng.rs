//! Random numbers that are the same for the same seed, on every machine and in every version.

/// xoshiro256**, seeded by splitmix64.
#[derive(Clone, Debug)]
pub(crate) struct SimRng {
    state: [u64; 4],
}

impl SimRng {
    /// A stream of numbers for `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let mut seed = seed;
        Self {
            state: [(); 4].map(|()| splitmix(&mut seed)),
        }
    }

    /// A stream of its own, so that one part of the world may draw more without moving all the others.
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.draw())
    }

    /// The next number.
    pub(crate) fn draw(&mut self) -> u64 {
        let result = self.state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = self.state[1] << 17;
        self.state[2] ^= self.state[0];
        self.state[3] ^= self.state[1];
        self.state[1] ^= self.state[2];
        self.state[0] ^= self.state[3];
        self.state[2] ^= shifted;
        self.state[3] = self.state[3].rotate_left(45);
        result
    }

    /// A number below `bound`; zero when the bound is.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.draw()) * u128::from(bound);
        // The upper half of the product is below the bound.
        u64::try_from(product >> 64).unwrap_or_default()
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// An index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// Yes in `permille` of a thousand draws.
    pub(crate) fn chance(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    /// One of the choices.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
