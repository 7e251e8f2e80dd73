/** Metadata as somebody typed it: an object, or nothing. Throws with a sentence. */
export function metadataOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`The metadata is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SyntaxError('The metadata has to be an object: {"name": "value"}')
  return value as Record<string, unknown>
}

export const textOfMetadata = (metadata: object | undefined) =>
  metadata ? JSON.stringify(metadata, null, 2) : ''
