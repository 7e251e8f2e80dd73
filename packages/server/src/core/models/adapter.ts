/**
 * Models of providers with an interface like OpenAI's: classifiers, embeddings and chat. Every call throws
 * `CallFailed` if there is no usable answer.
 */
import { type Static, Type } from 'typebox'
import { matcher } from '../../platform/matcher.ts'
import { CallFailed, postJson } from '../../platform/net/json-call.ts'
import type { Outbound } from '../../platform/net/outbound.ts'

/** The largest answers: an embedding has some thousand numbers. */
const BYTES = 65_536
const EMBEDDING_BYTES = 100_000
/** How many texts one request embeds. */
export const EMBEDDED_AT_ONCE = 64

/** A model of a provider, and how to call it. */
export interface Model {
  outbound: Outbound
  /** What comes before the name of an operation, such as `https://api.example.com/v1`. */
  url: string
  key: string | undefined
  model: string
  timeoutMs: number
  signal: AbortSignal
}

/** What a message contains, in the form of the chat interface. */
export type Part =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'video_url'; video_url: { url: string } }

const Classified = Type.Object({
  results: Type.Array(Type.Object({ category_scores: Type.Record(Type.String(), Type.Number()) }), {
    minItems: 1,
  }),
})

const isClassified = matcher(Classified)

/** The score of each label of the classifier, from 0 to 1. */
export async function classify(model: Model, input: Part[]): Promise<Map<string, number>> {
  const [first] = input
  const only = input.length === 1 && first?.type === 'text' ? first.text : input
  const { results } = await call<Static<typeof Classified>>(
    model,
    'moderations',
    { input: only },
    isClassified,
  )
  const scores = new Map<string, number>()
  for (const { category_scores } of results) {
    for (const [label, score] of Object.entries(category_scores)) {
      scores.set(label, Math.max(score, scores.get(label) ?? 0))
    }
  }
  return scores
}

const Embedded = Type.Object({
  data: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      embedding: Type.Array(Type.Number(), { minItems: 1 }),
    }),
  ),
  // Servers write all sorts of things there.
  usage: Type.Optional(Type.Unknown()),
})

const isEmbedded = matcher(Embedded)

/**
 * One vector of length 1 for each text, in the same order. `tokens` is what they cost. If the provider doesn't count, it is
 * the most that they can have.
 */
export async function embed(
  model: Model,
  texts: string[],
): Promise<{ vectors: Float32Array[]; tokens: number }> {
  const vectors: Float32Array[] = []
  let tokens = 0
  for (let from = 0; from < texts.length; from += EMBEDDED_AT_ONCE) {
    const input = texts.slice(from, from + EMBEDDED_AT_ONCE)
    const body = { input, encoding_format: 'float' }
    const bytes = input.length * EMBEDDING_BYTES
    const { data, usage } = await call<Static<typeof Embedded>>(
      model,
      'embeddings',
      body,
      isEmbedded,
      bytes,
    )
    const sorted = data.toSorted((a, b) => a.index - b.index)
    const complete = sorted.every(({ index }, n) => index === n) && sorted.length === input.length
    const [size, ...others] = new Set(data.map(({ embedding }) => embedding.length))
    const alike = others.length === 0 && (vectors[0]?.length ?? size) === size
    if (!complete || !alike) throw new CallFailed('invalid_response', 'some embeddings are missing')
    vectors.push(...sorted.map(({ embedding }) => unit(embedding)))
    tokens += tokensIn(usage, Buffer.byteLength(input.join('')))
  }
  return { vectors, tokens }
}

/** What the provider counts, if it can be true: no tokenizer makes more tokens than there are bytes. */
function tokensIn(usage: unknown, bytes: number): number {
  const counted = (usage as { total_tokens?: unknown } | null | undefined)?.total_tokens
  const isTrue = Number.isInteger(counted) && Number(counted) >= 0 && Number(counted) <= bytes
  return isTrue ? Number(counted) : bytes
}

function unit(vector: number[]): Float32Array {
  const length = Math.hypot(...vector) || 1
  return Float32Array.from(vector, (one) => one / length)
}

/** How alike the meanings of two embedded texts are, from -1 to 1. */
export const similarity = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, n) => sum + value * (other[n] ?? 0), 0)

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string | Part[]
}

const Completed = Type.Object({
  choices: Type.Array(Type.Object({ message: Type.Object({ content: Type.String() }) }), {
    minItems: 1,
  }),
})

const isCompleted = matcher(Completed)

/** An answer of a chat model as JSON. */
export async function completeJson(model: Model, messages: ChatMessage[]): Promise<unknown> {
  const body = { messages, temperature: 0, response_format: { type: 'json_object' } }
  const { choices } = await call<Static<typeof Completed>>(
    model,
    'chat/completions',
    body,
    isCompleted,
  )
  try {
    return JSON.parse(choices[0]?.message.content ?? '')
  } catch {
    throw new CallFailed('invalid_response', "the model's answer is not JSON")
  }
}

async function call<T>(
  { outbound, url, key, model, timeoutMs, signal }: Model,
  operation: string,
  body: object,
  accepts: (answer: unknown) => boolean,
  bytes = BYTES,
): Promise<T> {
  const answer = await postJson(outbound, {
    url: `${url.replace(/\/+$/, '')}/${operation}`,
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, ...body }),
    ...{ timeoutMs, bytes, signal, accepts },
  })
  return answer as T
}
