/**
 * Creates a value when it is first needed. Compiling a schema takes milliseconds; compiling those of all operations
 * would add a second to every start.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
