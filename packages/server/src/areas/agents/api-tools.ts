/** Calls of API tools: the request that a tool describes, and what the model learns of the response. */
import { type Outbound, Unsent } from '../../platform/net/outbound.ts'
import { ForbiddenTarget } from '../../platform/net/targets.ts'
import type { NewApiTool } from './blocks.schema.ts'
import type { BlockSecrets } from './blocks.ts'
import { originOf } from './endpoint.ts'
import { readHeaders } from './headers.ts'

/** How much of a response the model reads. */
export const RESULT_BYTES = 32_000

/** What a call came to. It is data for the model, and `failed` says how it ended. */
export interface ToolResult {
  text: string
  failed: boolean
  /** What the app should know about it. The model doesn't read it. */
  note?: string
}

/** The call may have happened or not. */
export class OutcomeUnknown extends Error {}

/** Arguments that a tool can't be called with. */
export class BadArguments extends Error {}

export type Arguments = Record<string, unknown>

/** The values that a tool's texts can name, besides its parameters. The model can't choose them. */
export type ValueOf = (name: string) => unknown

export interface ToolRequest {
  url: string
  method: string
  headers: Record<string, string>
  body?: string
}

type ApiToolFields = Omit<NewApiTool, 'slug' | 'headers' | 'basicAuthPassword'>

const PLACE = /\{\{\s*([\w.-]+)\s*\}\}/g

/** The request of a call. Throws `BadArguments`. */
export function requestOf(
  tool: ApiToolFields,
  secrets: BlockSecrets,
  args: Arguments,
  values: ValueOf,
): ToolRequest {
  const { method, bodyTemplate } = tool
  const declared = new Set(tool.parameters?.map(({ key }) => key))
  // What the tool's author didn't declare must not hide who asks.
  const find: ValueOf = (name) =>
    declared.has(name) ? args[name] : (values(name) ?? ownValue(args, name))
  const { url, used } = fillUrl(tool.endpoint, find)
  const rest = Object.entries(args).filter(([name]) => !used.has(name))
  const bodiless = method === 'GET' || (method === 'DELETE' && bodyTemplate === undefined)
  if (bodiless) for (const [name, value] of rest) url.searchParams.append(name, plain(value))
  const body = bodiless
    ? undefined
    : bodyTemplate === undefined
      ? JSON.stringify(Object.fromEntries(rest))
      : fillJson(bodyTemplate, find)
  return {
    ...{ url: url.href, method, headers: headersOf(tool, secrets, values, body) },
    ...(body !== undefined && { body }),
  }
}

const ownValue = (object: Arguments, name: string) =>
  Object.hasOwn(object, name) ? object[name] : undefined

const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** A value is one segment or one parameter: it can't lead to another path. */
function fillUrl(endpoint: string, find: ValueOf): { url: URL; used: Set<string> } {
  const used = new Set<string>()
  const filled = endpoint.replace(PLACE, (_, name: string) => {
    used.add(name)
    const text = plain(find(name) ?? '')
    if (/^\.*$/.test(text)) throw new BadArguments(`"${name}" can't be part of the URL`)
    return encodeURIComponent(text.toWellFormed())
  })
  const url = new URL(filled)
  // The secrets of the tool are for this host.
  if (url.origin !== originOf(endpoint)) throw new BadArguments('a value leads to another host')
  return { url, used }
}

/** A value within quotes is part of that text; elsewhere it is JSON by itself. So it can't add fields. */
function fillJson(template: string, find: ValueOf): string {
  let quoted = false
  const filled = template.replace(/\{\{\s*([\w.-]+)\s*\}\}|\\.|"/g, (found, name?: string) => {
    if (found === '"') quoted = !quoted
    if (name === undefined) return found
    const value = find(name) ?? (quoted ? '' : null)
    return quoted ? JSON.stringify(plain(value)).slice(1, -1) : JSON.stringify(value)
  })
  try {
    JSON.parse(filled)
  } catch {
    throw new BadArguments('the body of the tool is no JSON')
  }
  return filled
}

function headersOf(
  { enableBasicAuth, basicAuthUsername }: ApiToolFields,
  { headers, basicAuthPassword }: BlockSecrets,
  values: ValueOf,
  body: string | undefined,
): Record<string, string> {
  const own = Object.entries(headers === undefined ? {} : readHeaders(headers)).map(
    ([name, value]) => [name.toLowerCase(), fillHeader(value, values)],
  )
  const user = `${basicAuthUsername}:${basicAuthPassword}`
  return {
    ...{ accept: 'application/json, text/*', 'user-agent': 'Loquat' },
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(enableBasicAuth && { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
    ...Object.fromEntries(own),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }
}

const fillHeader = (text: string, values: ValueOf) =>
  text.replace(PLACE, (_, name: string) => plain(values(name) ?? '').replace(/[^\x20-\x7e]/g, ''))

/** Sends a request once. Throws `OutcomeUnknown`, or the reason of `signal`. */
export async function sendRequest(
  outbound: Outbound,
  { url, ...request }: ToolRequest,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<ToolResult> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const call = { ...request, idleMs: timeoutMs, signal: AbortSignal.any([signal, timeout]) }
  try {
    const { status, chunks } = await outbound.stream(url, call)
    return resultOf(status, await readText(chunks))
  } catch (error) {
    signal.throwIfAborted()
    const { message } = error as Error
    const unsent = error instanceof ForbiddenTarget || error instanceof Unsent
    if (unsent) return { text: `The tool can't be reached: ${message}`, failed: true }
    throw new OutcomeUnknown(timeout.aborted ? `no response within ${timeoutMs} ms` : message)
  }
}

function resultOf(status: number, text: string): ToolResult {
  const failed = status < 200 || status > 299
  if (failed) return { text: `Status ${status}\n${text}`.trim(), failed }
  return { text: text === '' ? `Status ${status}, without content` : text, failed }
}

/** The status has arrived, so a body that is cut off is a result, too. */
async function readText(chunks: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  let note = ''
  try {
    for await (const chunk of chunks) {
      parts.push(chunk)
      bytes += chunk.length
      if (bytes <= RESULT_BYTES) continue
      note = '\n(The rest is left out.)'
      break
    }
  } catch {
    note = '\n(The response was cut off.)'
  }
  return shorten(Buffer.concat(parts).toString('utf8'), RESULT_BYTES) + note
}

/** A text that can be stored, with at most so many bytes. */
export const shorten = (text: string, bytes: number) =>
  Buffer.from(text.replaceAll('\0', '').toWellFormed())
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
