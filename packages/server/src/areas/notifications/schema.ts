export const NO_FEATURE = { none: 'The contract has no feature for notifications.' }
