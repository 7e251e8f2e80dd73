/** What chat models are asked, and how their answers end. */
import { storableStart } from '../../platform/http/characters.ts'

export const PROVIDER_KINDS = ['openai', 'anthropic'] as const
export type ProviderKind = (typeof PROVIDER_KINDS)[number]
/** Whose interface it is. `ag-ui`: an external agent. */
export type AnswererKind = ProviderKind | 'ag-ui'

/** A tool that the model may call. */
export interface OfferedTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string
  description: string
  /** A JSON schema of an object. */
  parameters: object
}

/** A call of a tool that the model asks for. */
export interface ToolCall {
  id: string
  name: string
  /** JSON text, or whatever the model wrote. */
  arguments: string
}

export type ChatTurn =
  | { role: 'user'; text: string; id?: string }
  | { role: 'assistant'; text: string; id?: string; calls?: ToolCall[] }
  /** What came of a call. */
  | { role: 'tool'; callId: string; text: string; failed: boolean }

/** What only external agents are told. */
export interface RunContext {
  runId: string
  threadId: string
  context: { description: string; value: string }[]
  forwardedProps: object
}

/** Which model to ask what. */
export interface ChatPrompt {
  kind: AnswererKind
  model: string
  system: string | undefined
  turns: ChatTurn[]
  tools?: OfferedTool[]
  /** The longest answer, in tokens. */
  maxTokens: number
  /** The model has refused the usual name of that limit. */
  renamed?: boolean
  temperature: number | undefined
  run?: RunContext
}

/** Why there is no complete answer. */
export type ChatFault =
  /** The provider refuses so many requests; again later. */
  | 'provider_limited'
  /** It failed, or the connection did; again later. */
  | 'provider_unavailable'
  /** It refuses this request. */
  | 'provider_refused'
  /** It sent something that isn't an answer. */
  | 'provider_invalid'
  /** It sent nothing for too long. */
  | 'provider_silent'
  /** Its URL must not be called. */
  | 'provider_forbidden'
  /** The external agent reported an error. */
  | 'agent_failed'

const MESSAGE_LENGTH = 1_000

export class ChatFailed extends Error {
  readonly fault: ChatFault
  /** Whether the provider may have worked for it, and so may want to be paid. */
  readonly spent: boolean
  /** Whether a part of the answer had arrived. */
  begun = false
  /** The model refuses the name of the limit, and so has done nothing. It answers with the other name. */
  renames = false

  constructor(fault: ChatFault, message: string, spent: boolean) {
    // It is stored, and may quote what a provider sent.
    super(storableStart(message, MESSAGE_LENGTH))
    this.fault = fault
    this.spent = spent
  }
}

export interface Usage {
  input: number
  output: number
}

/** A piece of an answer: text, or a call that an external agent makes, or what came of it. */
export type ChatPiece = string | { call: ToolCall } | { callId: string; result: string }

/** Why the model stopped: it was done, the answer got too long, or the provider suppressed the rest. */
export type Finish = 'stop' | 'length' | 'filtered'

export interface ChatEnd {
  finish: Finish
  /** What the provider counted; undefined if it doesn't say. */
  usage: Usage | undefined
  /** The model goes on when it knows what came of these. Empty unless it stopped by itself. */
  calls: ToolCall[]
}
