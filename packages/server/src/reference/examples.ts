import { readFileSync } from 'node:fs'
import { lazily } from '../platform/lazily.ts'
import type { ApiDocument, Operation, Parameter } from './document.ts'

/** A request and the server's answer. `npm run generate` records them: see test/examples/. */
export interface Example {
  title: string
  /** The user on whose behalf the app calls. */
  as?: string
  /** Path parameters. */
  ids?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  status: number
  answer: unknown
}

/** By operationId. */
export type Examples = Record<string, Example[]>

const FILE = new URL('../../examples.gen.json', import.meta.url)

/** The recorded examples, read anew: `npm run generate` records them before it makes the documents. */
export const readExamples = (): Examples => JSON.parse(readFileSync(FILE, 'utf8'))

export const recordedExamples = lazily(readExamples)

/** Adds the examples to the parameters, bodies and answers of all operations. */
export function addExamples(document: ApiDocument, examples: Examples): void {
  for (const methods of Object.values(document.paths)) {
    for (const operation of Object.values(methods)) {
      const own = examples[operation.operationId] ?? []
      addToParameters(operation, own)
      for (const example of own) addToBodies(operation, example)
    }
  }
}

function addToParameters({ parameters = [] }: Operation, examples: Example[]): void {
  for (const parameter of parameters) {
    const value = examples.map((example) => shownValue(parameter, example)).find(isGiven)
    if (value !== undefined) parameter.example = value
  }
}

const isGiven = (value: unknown) => value !== undefined

function shownValue({ name, in: place, schema }: Parameter, { ids, query, as }: Example) {
  const id = ids?.[name]
  // Stories write ids as in a URL.
  if (place === 'path') return id !== undefined && schema.type === 'integer' ? Number(id) : id
  return place === 'query' ? query?.[name] : name === 'onBehalfOf' ? as : undefined
}

function addToBodies({ requestBody, responses }: Operation, example: Example): void {
  const { title, body, status, answer } = example
  const name = slugOf(title)
  const sent = requestBody?.content?.['application/json']
  if (sent && body !== undefined) {
    sent.examples = { ...sent.examples, [name]: { summary: title, value: body } }
  }
  const answered = responses[status]?.content?.['application/json']
  if (answered) {
    answered.examples = { ...answered.examples, [name]: { summary: title, value: answer } }
  }
}

/** A name for URLs and generated code: `A text message` is `a-text-message`. */
export const slugOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
