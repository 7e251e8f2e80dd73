/** What the interfaces of models and agents have in common. */
import type { SentEvent } from '../../platform/net/sse.ts'
import type { ChatPrompt, Finish, ToolCall } from './prompt.ts'

/** What one event of the stream says. */
export interface Piece {
  text?: string
  /** Beginnings of calls, and more of their arguments, by their place in the answer. */
  calls?: ({ index: number | string } & { [K in keyof ToolCall]: string | undefined })[]
  /** A text begins. */
  begins?: boolean
  /** An external agent makes this call by itself, unless a device has to. */
  called?: string | undefined
  /** What came of a call that an external agent made. */
  result?: { callId: string; text: string }
  finish?: Finish
  input?: number
  output?: number
  /** The provider says that nothing follows. */
  ends?: boolean
}

export interface Dialect {
  /** Empty if the URL names it. */
  operation: string
  /** Whether the other side makes calls of tools by itself that it wasn't offered. */
  callsTools?: boolean
  headers(key: string | undefined): Record<string, string>
  body(prompt: ChatPrompt): object
  /** Throws if the event isn't one that the interface has. */
  read(event: SentEvent): Piece
}
