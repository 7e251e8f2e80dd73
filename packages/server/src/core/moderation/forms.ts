/**
 * The forms of a text in which words are searched. An entry of a list is searched as it is written (`entryForm`), so an
 * entry with an accent finds only texts with that accent, and one without finds both. docs/moderation.md says what is
 * caught and what isn't.
 */

/** Characters that show nothing: format characters, fillers, variation selectors. */
const INVISIBLE = /\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u180e|\u3164/gu

/** The marks of Latin, Greek and Cyrillic letters. Marks of other scripts are vowels. ñ and й are letters of their own. */
const ACCENTS =
  /(?<![Nn])\u0303|(?<![\u0418\u0438])\u0306|[\u0300-\u0302\u0304\u0305\u0307-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]/g

/** Letters that have no accent to remove. */
const LETTERS = mapOf('æ ae œ oe ø o ł l đ d ð d ħ h ı i ß ss ɑ a ɡ g ɩ i ʀ r ɴ n ᴀ a ᴇ e ᴏ o')

/** Letters of other scripts that look like Latin ones. Capitals differ from small letters: В looks like B, в doesn't. */
const LOOK_ALIKES = mapOf(
  'а a е e о o р p с c у y х x і i ј j ѕ s һ h ԁ d ԛ q ԝ w ӏ l ѵ v ' +
    'А A В B Е E К K М M Н H О O Р P С C Т T У Y Х X І I Ј J Ѕ S Һ H Ӏ I ' +
    'α a ε e ι i κ k ν v ο o ρ p τ t υ u χ x ' +
    'Α A Β B Ε E Ζ Z Η H Ι I Κ K Μ M Ν N Ο O Ρ P Τ T Υ Y Χ X',
)

const OTHER_SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}]/gu
const HAS_OTHER_SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}]/u
const LATIN = /\p{Script=Latin}/u
const WORD = /[\p{L}\p{N}\p{M}]+/gu
const NOT_ASCII = /[^\0-\x7f]/
/** White space other than single spaces. */
const OTHER_SPACES = /\s\s|[^\S ]/

/** Digits and signs that stand for letters. `1`, `!` and `|` stand for two. */
const LEET = mapOf('0 o 3 e 4 a 5 s 7 t 8 b 9 g @ a $ s + t')
const LEET_WORD = /[\p{L}\p{N}\p{M}@$+!|]+/gu
const HAS_LEET = /[0-9@$+!|]/
const HAS_TWO_MEANINGS = /[1!|]/
const LEET_LETTER = /[\p{L}@$]/gu

/** Three or more letters, each alone: `s p a m`, `s.p.a.m`. */
const SPELLED =
  /(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}]\p{M}*(?:[^\p{L}\p{N}\p{M}]{1,3}[\p{L}\p{N}]\p{M}*(?![\p{L}\p{N}\p{M}])){2,}/gu
/** ASCII without two such letters in a row has nothing spelled. Most texts end here, for a fifth of the time. */
const HAS_SPELLED = /[^a-z0-9][a-z0-9][^a-z0-9]{1,3}[a-z0-9](?![a-z0-9])/
const BETWEEN = /[^\p{L}\p{N}\p{M}]+/gu

function mapOf(pairs: string): Map<string, string> {
  const words = pairs.split(' ')
  return new Map(words.flatMap((word, n) => (n % 2 === 0 ? [[word, words[n + 1] ?? '']] : [])))
}

const replaceAll = (text: string, by: Map<string, string>) =>
  Array.from(text, (letter) => by.get(letter) ?? letter).join('')

/** As it is written, but in one spelling: compatible characters, case and white space don't matter. */
function plainForm(text: string): string {
  const shown = NOT_ASCII.test(text)
    ? text.normalize('NFKC').replace(INVISIBLE, '').normalize()
    : text
  const lower = shown.toLowerCase()
  return (OTHER_SPACES.test(lower) ? lower.replace(/\s+/g, ' ') : lower).trim()
}

/** The form in which an entry of a list is searched. */
export const entryForm = plainForm

/** Without accents, and with Latin letters for those that look like them. */
function bareForm(text: string): string {
  const bare = text.normalize('NFKD').replace(INVISIBLE, '').replace(ACCENTS, '').normalize('NFC')
  return replaceAll(plainForm(unmasked(bare)), LETTERS)
}

/**
 * A word that mixes scripts is read as Latin. So is a word of look-alikes alone, unless other letters of the text
 * belong to no other script: then the text is written in that script.
 */
function unmasked(text: string): string {
  if (!HAS_OTHER_SCRIPT.test(text)) return text
  const genuine = (text.match(OTHER_SCRIPT) ?? []).some((letter) => !LOOK_ALIKES.has(letter))
  return text.replace(WORD, (word) =>
    !genuine || LATIN.test(word) ? replaceAll(word, LOOK_ALIKES) : word,
  )
}

/** `sh!t` is read as letters; `A55` and `100$` aren't, because they have fewer than two. */
const readLeet = (text: string, one: 'i' | 'l') =>
  text.replace(LEET_WORD, (word) => {
    if ((word.match(LEET_LETTER)?.length ?? 0) < 2 || !/\p{L}/u.test(word)) return word
    // At the end of a word they are punctuation.
    const [, main = '', end = ''] = /^(.*?)([!|+]*)$/su.exec(word) ?? []
    return replaceAll(main, LEET).replace(/[1!|]/g, one) + end
  })

const joined = (text: string) =>
  HAS_SPELLED.test(text) || NOT_ASCII.test(text)
    ? text.replace(SPELLED, (spelled) => spelled.replace(BETWEEN, ''))
    : text

/** The forms of a text, each once, the plain one first. */
export function wordForms(text: string): string[] {
  const plain = plainForm(text)
  const bare = NOT_ASCII.test(text) ? bareForm(text) : plain
  const forms = [plain, bare]
  if (HAS_LEET.test(bare)) {
    forms.push(readLeet(bare, 'i'))
    if (HAS_TWO_MEANINGS.test(bare)) forms.push(readLeet(bare, 'l'))
  }
  return [...new Set([...forms, ...forms.slice(1).map(joined)])]
}

/** The forms in which patterns are searched. They ignore case, so the case of the first form doesn't matter. */
export function patternForms(text: string): string[] {
  if (!NOT_ASCII.test(text)) return [text]
  const plain = text.normalize('NFKC').replace(INVISIBLE, '').normalize()
  return [...new Set([plain, bareForm(text)])]
}
