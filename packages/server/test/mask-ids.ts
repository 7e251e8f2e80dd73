import type { Answer } from './kit.ts'
import type { Ids } from './resources.ts'

/** The answer with its requested ids masked: everything else that a caller can distinguish. */
export function maskIds({ status, body }: Answer, ids: Ids) {
  // The longest first, because a message's number can be part of another id.
  const text = Object.entries(ids)
    .toSorted(([, one], [, two]) => two.length - one.length)
    .reduce((rest, [name, id]) => rest.replaceAll(id, `{${name}}`), JSON.stringify(body))
  return { status, body: JSON.parse(text) }
}
