import type { Answer } from './kit.ts'
import type { Ids } from './resources.ts'

/** All of an answer that a caller could tell apart, but for the ids that were asked for. */
export function visible({ status, body }: Answer, ids: Ids) {
  // The longest first: the number of a message can be part of another id.
  const text = Object.entries(ids)
    .toSorted(([, one], [, two]) => two.length - one.length)
    .reduce((rest, [name, id]) => rest.replaceAll(id, `{${name}}`), JSON.stringify(body))
  return { status, body: JSON.parse(text) }
}
