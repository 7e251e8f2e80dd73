/** How long a mute or ban lasts, by seconds. */
export const LENGTHS = {
  '3600': 'An hour',
  '86400': 'A day',
  '604800': 'A week',
  '2592000': '30 days',
  '': 'Until it is lifted',
} as const

/** The end of a sanction that starts now. */
export const untilOf = (length: keyof typeof LENGTHS): number | undefined =>
  length === '' ? undefined : Math.floor(Date.now() / 1000) + Number(length)
