/** The same value without presence: events, and the parts of answers that come from them, don't show it. */
export const snapshotOf = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (key, inner) =>
      key === 'status' || key === 'lastActiveAt' ? undefined : inner,
    ),
  )
