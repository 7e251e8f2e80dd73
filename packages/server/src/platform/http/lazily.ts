/**
 * Makes it when it is first asked for. To compile a schema takes milliseconds, and those of all
 * operations a second of every start.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
