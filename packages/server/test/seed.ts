/**
 * For fast-check. The short form makes the same inputs each time: whoever changes something else
 * must not be stopped by chance. The long form makes new ones and names its seed when it fails;
 * LOQUAT_TEST_SEED repeats it.
 */
const { LOQUAT_TEST_SEED, LOQUAT_TEST_LONG } = process.env

export const seeded = LOQUAT_TEST_SEED
  ? { seed: Number(LOQUAT_TEST_SEED) }
  : LOQUAT_TEST_LONG
    ? {}
    : { seed: 1 }
