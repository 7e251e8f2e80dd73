/** Derives the names of methods and types from the operationId and tag of an operation. */

/** `Auth tokens` → `authTokens` */
export const namespaceOf = (tag: string) =>
  tag.toLowerCase().replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase())

export const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/**
 * Drops the noun of the tag from the operationId: `createUser` of `Users` becomes `create`, `blockUsers` of `Blocked users`
 * becomes `block`, and `transferGroupOwnership` of `Groups` becomes `transferOwnership`.
 */
export function methodOf(operationId: string, tag: string): string {
  const words = operationId.split(/(?=[A-Z])/)
  const noun = tag.toLowerCase().split(' ')
  for (let from = 0; from < noun.length; from++) {
    const start = lastIndexOf(words, noun.slice(from))
    if (start > 0) return words.toSpliced(start, noun.length - from).join('')
  }
  throw new Error(
    `${operationId} must contain the noun of its tag "${tag}", so that a method name can be derived. ` +
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
