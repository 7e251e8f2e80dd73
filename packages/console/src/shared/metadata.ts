/** Parses typed metadata: an object, or undefined for an empty text. Throws an error that can be shown. */
export function metadataOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`The metadata isn't valid JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SyntaxError('The metadata must be a JSON object, such as {"name": "value"}.')
  return value as Record<string, unknown>
}

export const textOfMetadata = (metadata: object | undefined) =>
  metadata ? JSON.stringify(metadata, null, 2) : ''
