export const seconds = (date: Date) => Math.floor(date.getTime() / 1000)

/** Close to the latest time that PostgreSQL can store. */
const LAST_SECOND = 9_000_000_000_000

/** A requested second, if PostgreSQL can store it; otherwise the nearest one that it can. */
export const storable = (second = 0) => Math.min(second, LAST_SECOND)
