/** What words are found in, and what they aren't. docs/moderation.md shows these tables to people. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { entryForm, patternForms, wordForms } from './forms.ts'
import { CompiledRules, type Condition, type RuleSource } from './rules.ts'
import { isWhole } from './words.ts'

const condition = (value: string[], more: Partial<Condition> = {}): Condition => ({
  ...{ operand: 'text', operator: 'contains', category: 'word', isKeywordsReferencePresent: false },
  ...{ value, ...more },
})

const ruleOf = (...conditions: Condition[]): RuleSource => ({
  lists: [],
  rules: [
    {
      ...{ id: 'r', name: 'R', revision: 1, revisionId: 'a_r_1' },
      ...{ action: [], filters: [], conditions },
    },
  ],
})

const compile = (...conditions: Condition[]) => CompiledRules.of(ruleOf(...conditions))

/** Harmless words in place of those that people put into lists. */
const LISTED = [
  'spam',
  'scam',
  'cunt',
  'ass',
  'hell',
  'buy now',
  'idiota',
  'дурак',
  '傻瓜',
  'バカ',
  'โง่',
  'lồn',
]

const CAUGHT: Record<string, string[]> = {
  'as it is': ['spam', 'SPAM', 'so much Spam!', '"spam"', '_spam_', 'spam,scam', 'buy\n  now'],
  leet: ['5p4m', 'sp@m', '$pam', 'sc4m', 'h3ll', 'he11', 'he!!o hell', 'c0me buy n0w', '1diota'],
  'full-width': ['ｓｐａｍ', 'ＳＰＡＭ', '𝓼𝓹𝓪𝓶', 'ⓢⓟⓐⓜ'],
  Cyrillic: ['sраm', 'ѕраm', 'sсаm', 'SРАM', 'ѕсаm и дураки'],
  Greek: ['ѕραm', 'SCΑM'],
  'zero-width': ['s\u200bp\u200ba\u200bm', 'sp\u00adam', 'sp\u2060am', 'sp\ufe0fam'],
  spaced: ['s p a m', 's.p.a.m', 's-p-a-m', 's * p * a * m', 'no s p a m, please'],
  diacritics: ['spàm', 'şpåm', 's\u0336p\u0336a\u0336m', 'ídiotá'],
  'other scripts': [
    'какой дурак',
    'ДУРАК!',
    '你这个傻瓜啊',
    'おまえはバカだ',
    'คนโง่จริงๆ',
    'đồ lồn',
  ],
}

/** Texts that contain a listed word only inside another, or look like one. */
const PASSED: Record<string, string[]> = {
  English: [
    'Scunthorpe',
    'classic assistant',
    'hello shells',
    'spammer',
    'a Samsung A55',
    'he paid 455',
  ],
  German: ['Masse, Klasse, Hellseher', 'Passstraße'],
  French: ['la masse passe', "l'assiette"],
  Spanish: ['el año pasado, la clase', 'pasaste'],
  Portuguese: ['a massa passou', 'assim'],
  Italian: ['la massa, assieme', 'hellas'],
  Turkish: ['hassas', 'masa başı'],
  Polish: ['kasa i masa', 'klassa'],
  Russian: ['дураки ушли', 'он взял сор', 'масса'],
  Vietnamese: ['một lon nước', 'lòn'],
}

suite('words', () => {
  for (const [kind, texts] of Object.entries(CAUGHT)) {
    test(`are found: ${kind}`, async () => {
      const rules = await compile(condition(LISTED))
      for (const text of texts) assert.notDeepEqual(rules.check({ text }), [], text)
    })
  }

  for (const [language, texts] of Object.entries(PASSED)) {
    test(`aren't found inside others: ${language}`, async () => {
      const rules = await compile(condition(LISTED))
      for (const text of texts) assert.deepEqual(rules.check({ text }), [], text)
    })
  }

  test('are the whole text if the operator is equals', async () => {
    const rules = await compile(condition(['spam'], { operator: 'equals' }))
    assert.equal(rules.check({ text: ' S P A M ' }).length, 1)
    assert.equal(rules.check({ text: 'no spam' }).length, 0)
  })

  test('come from lists of the same category', async () => {
    const source = ruleOf(condition(['mine'], { isKeywordsReferencePresent: true }))
    source.lists = [
      { id: 'mine', category: 'word', entries: ['ending'] },
      { id: 'other', category: 'word', entries: ['beginning'] },
    ]
    const rules = await CompiledRules.of(source)
    assert.equal(rules.check({ text: 'The ending!' })[0]?.text, 'ending')
    assert.deepEqual(rules.check({ text: 'The beginning!' }), [])
  })
})

suite('patterns', () => {
  test('ignore case, invisible characters and look-alikes', async () => {
    const rules = await compile(
      condition(['\\bsp[ae]m\\b', '\\d{4}-\\d{4}'], { category: 'pattern' }),
    )
    for (const text of ['SPEM', 'sp\u200bam', 'sраm', '１２３４-5678']) {
      assert.equal(rules.check({ text }).length, 1, text)
    }
    assert.deepEqual(rules.check({ text: 'spimspam 123-5678' }), [])
  })

  test('match the whole text if the operator is equals', async () => {
    const rules = await compile(condition(['\\d+'], { category: 'pattern', operator: 'equals' }))
    assert.equal(rules.check({ text: '12' }).length, 1)
    assert.deepEqual(rules.check({ text: '12 o' }), [])
  })
})

/** The same without an automaton: every entry is searched at every place of every form. */
function naive({ rules: [rule] }: RuleSource, text: string): string[] {
  return (rule?.conditions ?? []).flatMap(({ category, operator, value }, n) => {
    const hit =
      category === 'word'
        ? wordForms(text).some((form) =>
            value.some((word) => includes(form, entryForm(word), operator)),
          )
        : patternForms(text).some((form) =>
            value.some((pattern) =>
              new RegExp(operator === 'equals' ? `^(?:${pattern})$` : pattern, 'isu').test(form),
            ),
          )
    return hit ? [String(n)] : []
  })
}

function includes(form: string, word: string, operator: string): boolean {
  if (word === '') return false
  if (operator === 'equals') return form === word
  for (let at = form.indexOf(word); at >= 0; at = form.indexOf(word, at + 1)) {
    if (isWhole(form, at, at + word.length)) return true
  }
  return false
}

const letters = fc.constantFrom(...'aabbc 1!@.ÀаВ傻\u200bñé\u{1f44d}')
const textOf = (maxLength: number) =>
  fc.array(letters, { maxLength }).map((characters) => characters.join(''))
const words = fc.array(textOf(4), { minLength: 1, maxLength: 12 })
const patterns = fc.array(
  fc.constantFrom('ab+c', '^a', 'b$', '[ab]{2,3}c', '(a|b)*1', 'c.a', 'é'),
  {
    minLength: 1,
    maxLength: 4,
  },
)
const operator = fc.constantFrom('contains' as const, 'equals' as const)
const conditions = fc.array(
  fc.oneof(
    fc
      .record({ value: words, operator })
      .map(({ value, operator: by }) => condition(value, { operator: by })),
    fc
      .record({ value: patterns, operator })
      .map(({ value, operator: by }) => condition(value, { operator: by, category: 'pattern' })),
  ),
  { minLength: 1, maxLength: 5 },
)

suite('the engine', () => {
  test('finds what a search for each entry finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        conditions,
        fc.array(textOf(30), { minLength: 1, maxLength: 10 }),
        async (given, texts) => {
          const source = ruleOf(...given)
          const rules = await CompiledRules.of(source)
          for (const text of texts) {
            const found = rules.check({ text }).map((hit) => String(hit.condition))
            assert.deepEqual(found, naive(source, text), JSON.stringify(text))
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  test('holds 10,000 words in a few megabytes', async () => {
    const value = Array.from({ length: 10_000 }, (_, n) => `word${n.toString(36)}`)
    const rules = await compile(condition(value))
    assert.equal(rules.check({ text: 'not wordzzz but word7pr' })[0]?.text, 'word7pr')
    assert.ok(rules.bytes < 8_000_000, String(rules.bytes))
  })
})
