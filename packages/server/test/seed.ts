/** For fast-check, and for samples. The runner prints the seed of each run; LOQUAT_TEST_SEED repeats it. */
export const seeded = { seed: Number(process.env.LOQUAT_TEST_SEED ?? 1) }
