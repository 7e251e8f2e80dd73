/** Compares the meaning of a text with that of sentences: conditions of the category `sentence-similarity`. */

import { embed, type Model, similarity } from '../../core/models/adapter.ts'
import { contentOf } from '../../core/moderation/content.ts'
import { listEntries } from '../../core/moderation/queries.ts'
import { entriesOf } from '../../core/moderation/rules.ts'
import type { Asked, Asking, Engine, Subject } from './engine.ts'
import { modelFor } from './models.ts'

export const DEFAULT_SIMILARITY = 0.8
/** Parts of a long text that are compared, besides the whole. */
const PARTS = 20
const LONGEST_PART = 2_000
/** What the vectors of all sentences take in this process. Beyond it, those that were used longest ago are forgotten. */
const MOST_NUMBERS = 8_000_000

/** By app, provider, model and sentence. */
const known = new Map<string, Float32Array>()
let numbers = 0

export const askSimilarity: Engine = async (asking, subject, asked) => {
  const model = await modelFor(asking, subject, 'embeddings')
  const { texts } = contentOf(subject.message)
  for (const one of asked) {
    const { operand, similarityValue = DEFAULT_SIMILARITY } = one.condition
    const text = operand === 'text' || operand === 'custom' ? texts[operand] : undefined
    if (text === undefined) continue
    const sentences = await sentencesOf(asking, subject, one)
    if (sentences.length === 0) continue
    const { vectors: parts } = await embed(model, partsOf(text))
    const listed = await embedKnown(model, subject.appNo, sentences)
    for (const [n, sentence] of listed.entries()) {
      const best = Math.max(...parts.map((part) => similarity(part, sentence)))
      if (best < similarityValue) continue
      return { asked: one, text: `like “${sentences[n]}” (${Math.round(best * 100)} %)` }
    }
  }
  return undefined
}

async function sentencesOf({ db }: Asking, { appNo }: Subject, { condition }: Asked) {
  if (!condition.isKeywordsReferencePresent) return condition.value
  const rows = await listEntries.many(db, { appNo, ids: condition.value })
  const lists = rows.map(({ list_id: id, category, entries }) => ({ id, category, entries }))
  return entriesOf(condition, lists)
}

/** The whole text, and its sentences: a long text can say something else as well. */
export function partsOf(text: string): string[] {
  const sentences = text
    .split(/(?<=[.!?…。！？])\s+|\n+/u)
    .map((part) => part.trim())
    .filter(Boolean)
  const parts = sentences.length > 1 ? [text, ...sentences.slice(0, PARTS)] : [text]
  return parts.map((part) => part.slice(0, LONGEST_PART))
}

async function embedKnown(model: Model, appNo: number, sentences: string[]) {
  const keyOf = (sentence: string) => JSON.stringify([appNo, model.url, model.model, sentence])
  const missing = sentences.filter((sentence) => !known.has(keyOf(sentence)))
  const { vectors } = missing.length > 0 ? await embed(model, missing) : { vectors: [] }
  for (const [n, vector] of vectors.entries()) remember(keyOf(missing[n] ?? ''), vector)
  const found = sentences.map((sentence) => known.get(keyOf(sentence)) as Float32Array)
  for (const [n, sentence] of sentences.entries()) {
    // The last one of the map is the one that was used last.
    const key = keyOf(sentence)
    known.delete(key)
    known.set(key, found[n] as Float32Array)
  }
  makeRoom()
  return found
}

function remember(key: string, vector: Float32Array): void {
  if (known.has(key)) return
  known.set(key, vector)
  numbers += vector.length
}

function makeRoom(): void {
  for (const [key, vector] of known) {
    if (numbers <= MOST_NUMBERS) return
    known.delete(key)
    numbers -= vector.length
  }
}
