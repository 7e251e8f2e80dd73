/**
 * Rules, lists and reasons that every app has. Rules are disabled until the app enables them. The list of words is
 * empty: apps fill it with their own.
 */
import { lookupTable } from '../../platform/lookup-table.ts'
import type { Condition } from './rules.ts'

export interface DefaultRule {
  name: string
  description: string
  conditions: Condition[]
}

export interface DefaultList {
  name: string
  description: string
  category: 'word' | 'pattern'
  entries: string[]
}

export const WORDS = 'default-words'

const listed = (
  operand: Condition['operand'],
  category: Condition['category'],
  list: string,
): Condition[] => [
  { operand, operator: 'contains', category, isKeywordsReferencePresent: true, value: [list] },
]

export const DEFAULT_RULES = lookupTable<DefaultRule>({
  [WORDS]: {
    name: 'Word list',
    description: 'Texts with a word of the list default-words.',
    conditions: listed('text', 'word', WORDS),
  },
  'default-custom-words': {
    name: 'Word list for custom messages',
    description: 'Custom and interactive messages with a word of the list default-words.',
    conditions: listed('custom', 'word', WORDS),
  },
  'default-email-addresses': {
    name: 'Email addresses',
    description: 'Texts with an email address.',
    conditions: listed('text', 'pattern', 'default-email-addresses'),
  },
  'default-phone-numbers': {
    name: 'Phone numbers',
    description: 'Texts with a phone number.',
    conditions: listed('text', 'pattern', 'default-phone-numbers'),
  },
})

export const DEFAULT_LISTS = lookupTable<DefaultList>({
  [WORDS]: {
    name: 'Words',
    description: 'Empty until you replace its words.',
    category: 'word',
    entries: [],
  },
  'default-email-addresses': {
    name: 'Email addresses',
    description: 'Addresses, also with " at " and " dot ".',
    category: 'pattern',
    entries: [
      '[\\w.%+-]+@[a-z0-9-]+(?:\\.[a-z0-9-]+)+',
      '\\b[\\w.%+-]+\\s*[\\[(]\\s*at\\s*[\\])]\\s*[a-z0-9-]+\\s*(?:\\.|[\\[(]\\s*dot\\s*[\\])])\\s*[a-z]{2,}\\b',
      '\\b[\\w.%+-]+ at [a-z0-9-]+ dot [a-z]{2,}\\b',
    ],
  },
  'default-phone-numbers': {
    name: 'Phone numbers',
    description: 'Numbers of nine to fifteen digits, with the usual separators.',
    category: 'pattern',
    entries: ['(?:^|[^\\d])(?:\\+|00)?\\d(?:[\\s().-]{0,2}\\d){8,14}(?:$|[^\\d])'],
  },
})

export const DEFAULT_REASONS = lookupTable<{ name: string; description: string }>({
  spam: { name: 'Spam', description: 'Advertising, repeated or pointless messages.' },
  sexual: { name: 'Sexual content', description: 'Nudity or sexual content.' },
  harassment: { name: 'Harassment', description: 'Insults, threats or hate.' },
})
