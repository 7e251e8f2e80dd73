/** Reading the JSON of servers, of which nothing is known. */
import { ChatFailed } from './prompt.ts'

/** The JSON of an event. */
export function parsed(data: string): object {
  try {
    const json: unknown = JSON.parse(data)
    if (typeof json === 'object' && json !== null) return json
  } catch {
    // Said below.
  }
  throw new ChatFailed('provider_invalid', `not JSON: ${data.slice(0, 100)}`, true)
}

/** A value inside of JSON; undefined if it has another shape. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string | number, unknown>)[name]
  }
  return found
}

export const textIn = (value: unknown) => (typeof value === 'string' ? { text: value } : {})

export const str = (value: unknown) => (typeof value === 'string' ? value : undefined)
