/** The names of methods and types, derived from the operationId and tag of an operation. */

/** `auth_tokens` → `authTokens` */
export const namespaceOf = (tag: string) =>
  tag.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

export const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/**
 * The operationId without the noun that its tag says already: `createUser` of `users` is `create`,
 * `blockUsers` of `blocked_users` is `block`, `transferGroupOwnership` of `groups` is
 * `transferOwnership`.
 */
export function methodOf(operationId: string, tag: string): string {
  const words = operationId.split(/(?=[A-Z])/)
  const noun = tag.split('_')
  for (let from = 0; from < noun.length; from++) {
    const start = lastIndexOf(words, noun.slice(from))
    if (start > 0) return words.toSpliced(start, noun.length - from).join('')
  }
  throw new Error(
    `${operationId}: no method name can be derived, as the noun of its tag "${tag}" is not in it. ` +
      `Name it verb and noun, such as "create${capitalized(singular(namespaceOf(tag)))}", or give it another tag.`,
  )
}

function lastIndexOf(words: string[], noun: string[]): number {
  const spelled = (some: string[]) => some.map((word) => singular(word.toLowerCase())).join('_')
  return words.findLastIndex(
    (_, start) => spelled(words.slice(start, start + noun.length)) === spelled(noun),
  )
}

const singular = (word: string) => word.replace(/ies$/, 'y').replace(/s$/, '')
