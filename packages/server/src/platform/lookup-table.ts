/**
 * A table for names that others write. It has no prototype, so `__proto__` and `constructor` aren't found in it.
 */
export const lookupTable = <Value>(
  entries: Record<string, Value>,
): Readonly<Record<string, Value>> => Object.freeze(Object.assign(Object.create(null), entries))
