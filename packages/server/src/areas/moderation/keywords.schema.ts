import { type Static, Type } from 'typebox'
import { LIST_CATEGORIES } from '../../core/moderation/rules.ts'
import { Id, Name, Text, Timestamp } from '../../platform/http/schemas.ts'

/** A CSV file, or the same as JSON. */
export const FILE_BYTES = 1_048_576

const Category = Type.Enum([...LIST_CATEGORIES], {
  description:
    'Whole words, regular expressions in the syntax of RE2, or sentences whose meaning is compared.',
})

const Terms = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  items: { type: 'string' },
  description:
    'The entries, of up to 100 characters each: a list, or a text in which commas separate them. An entry with a comma is written in double quotes.',
})

const fields = {
  name: Name(100, 'Display name.'),
  description: Text(255, 'What the list is for.'),
  category: Category,
  searchTerms: Terms,
  disallowedSentences: Type.Array(Type.String(), {
    description:
      'The sentences of a list of the category `sentence-similarity`: up to 500, of up to 500 characters each.',
  }),
  file: Type.String({
    description:
      'A CSV file with the entries, of up to 1 MB. In a request as JSON: its content. Used if there are no `searchTerms`.',
  }),
}

export const NewKeywordList = Type.Object(
  {
    id: Id("Id of your choice. Converted to lower case; it can't be changed later."),
    name: fields.name,
    description: Type.Optional(fields.description),
    category: fields.category,
    searchTerms: Type.Optional(fields.searchTerms),
    disallowedSentences: Type.Optional(fields.disallowedSentences),
    file: Type.Optional(fields.file),
  },
  { 'x-component': 'NewKeywordList' },
)
export type NewKeywordList = Static<typeof NewKeywordList>

export const KeywordListChanges = Type.Object({
  id: Type.Optional(Id('The id of the list; it is not changed.')),
  name: Type.Optional(fields.name),
  description: Type.Optional(fields.description),
  category: Type.Optional(fields.category),
  searchTerms: Type.Optional(fields.searchTerms),
  disallowedSentences: Type.Optional(fields.disallowedSentences),
  file: Type.Optional(fields.file),
})
export type KeywordListChanges = Static<typeof KeywordListChanges>

export const KeywordListRecord = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    category: Category,
    isCSV: Type.Boolean({ description: 'Whether the entries came from a file.' }),
    searchTerms: Type.Optional(
      Type.Array(Type.String(), { description: 'The entries. Lists of lists leave them out.' }),
    ),
    disallowedSentences: Type.Optional(
      Type.Array(Type.String(), { description: 'The entries of a list of sentences.' }),
    ),
    termsCount: Type.Integer({ description: 'Number of entries.' }),
    revisionId: Type.String({ description: 'Ends with a number that grows with each change.' }),
    active: Type.Boolean(),
    default: Type.Optional(Type.Literal(true, { description: 'The list comes with the service.' })),
    createdAt: Timestamp('Time when the list was created, in Unix seconds; 0 for the service.'),
    updatedAt: Timestamp('Time of the last change, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'KeywordList' },
)
export type KeywordListRecord = Static<typeof KeywordListRecord>

export const KeywordListParams = Type.Object({ keywordId: Id('Id of the keyword list.') })
