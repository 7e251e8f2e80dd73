/** Asks a classifier for the scores of a message: conditions of the category `toxicity`. */

import { classify, type Model, type Part } from '../../core/models/adapter.ts'
import { attachmentsOf, contentOf, type Media } from '../../core/moderation/content.ts'
import { readFormula } from '../../core/moderation/formula.ts'
import type { Operand } from '../../core/moderation/rules.ts'
import { lookupTable } from '../../platform/lookup-table.ts'
import { CallFailed } from '../../platform/net/json-call.ts'
import { publicUrl } from '../files/record.ts'
import type { Asked, Asking, CheckHit, Engine, Subject } from './engine.ts'
import { modelFor } from './models.ts'

/** Labels of the contract, and what common classifiers call them. A label that a classifier has itself comes first. */
const ALIASES = lookupTable<readonly string[]>({
  'identity attack': ['hate', 'hate/threatening'],
  insult: ['harassment'],
  obscene: ['sexual'],
  'mild toxicity': ['harassment', 'hate'],
  'severe toxicity': ['harassment/threatening', 'hate/threatening'],
  'explicit nudity': ['sexual', 'sexual/minors'],
  'non explicit nudity': ['sexual'],
  'visually disturbing': ['violence/graphic'],
  'hate symbols': ['hate'],
  'drugs & tobacco': ['illicit'],
})
const ANY = ['anyof', 'any unsafe content']

const plain = (label: string) => label.toLowerCase().replaceAll(/[_-]/g, ' ').trim()

/** One request for the texts of a message, and one for each image or video. */
export const askClassifier: Engine = async (asking, subject, asked) => {
  const model = await modelFor(asking, subject, 'classifier')
  for (const [operand, conditions] of Map.groupBy(asked, ({ condition }) => condition.operand)) {
    for (const input of await inputsOf(asking, subject, operand)) {
      const hit = await ask(model, input, conditions)
      if (hit) return hit
    }
  }
  return undefined
}

async function ask(model: Model, input: Part, asked: Asked[]): Promise<CheckHit | undefined> {
  const scores = await classify(model, [input])
  for (const one of asked) {
    for (const formula of one.condition.value) {
      const { label, percent } = readFormula(formula)
      const score = Math.round(scoreOf(scores, label) * 100)
      if (score > percent) return { asked: one, text: `${label} (${score} %)` }
    }
  }
  return undefined
}

function scoreOf(scores: Map<string, number>, label: string): number {
  const wanted = plain(label)
  if (ANY.includes(wanted)) return Math.max(0, ...scores.values())
  const own = [...scores].filter(([name]) => plain(name) === wanted)
  const aliases = ALIASES[wanted] ?? []
  const found = own.length > 0 ? own : [...scores].filter(([name]) => aliases.includes(name))
  if (found.length === 0) {
    throw new CallFailed('invalid_response', `the classifier has no label "${label}"`)
  }
  return Math.max(...found.map(([, score]) => score))
}

/** What a classifier gets of a message. Files of ours are private, so it gets signed URLs. */
export async function inputsOf(
  { deps }: Asking,
  { appId, message }: Subject,
  operand: Operand,
): Promise<Part[]> {
  if (operand === 'text' || operand === 'custom') {
    const text = contentOf(message).texts[operand]
    return text === undefined ? [] : [{ type: 'text', text }]
  }
  return Promise.all(
    attachmentsOf(operand, message).map(async (attachment) =>
      toPart(operand, await publicUrl(deps.files, appId, attachment)),
    ),
  )
}

const toPart = (kind: Media, url: string): Part =>
  kind === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'video_url', video_url: { url } }
