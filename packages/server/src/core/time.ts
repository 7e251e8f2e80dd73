export const seconds = (date: Date) => Math.floor(date.getTime() / 1000)

/** Close to the end of what PostgreSQL has times for. */
const LAST_SECOND = 9_000_000_000_000

/** A second that was asked for, if PostgreSQL has a time for it; else one that is as far away. */
export const storable = (second = 0) => Math.min(second, LAST_SECOND)
