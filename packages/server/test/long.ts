/** Whether this is the long form of the tests: `npm run test:long`. */
export const LONG = process.env.LOQUAT_TEST_LONG !== undefined
