import type { EventPayload } from '../events.gen.ts'
import type { AgentHandover, AgentHandoversMethods } from '../operations.gen.ts'

/** A conversation with an agent in which a person answers, or will. */
export type OpenHandover = Pick<
  AgentHandover,
  'id' | 'agentUid' | 'conversationId' | 'state' | 'openedBy'
>

type HandoverEvent = 'agent.handover.opened' | 'agent.handover.taken' | 'agent.handover.closed'
const EVENTS: HandoverEvent[] = [
  ...(['agent.handover.opened', 'agent.handover.taken', 'agent.handover.closed'] as const),
]

/** What `Handovers` needs of a `LoquatClient`. */
interface Chat {
  readonly api: {
    readonly agentHandovers: Pick<AgentHandoversMethods, 'create' | 'close' | 'list'>
  }
  readonly state: { readonly connection: string }
  subscribe(listener: () => void): () => void
  on(type: HandoverEvent, listener: (body: EventPayload<HandoverEvent>) => void): () => void
}

/** Knows in which of the user's conversations with agents a person answers. It lives as long as its client. */
export class Handovers {
  readonly #chat: Chat
  /** By the UID of the agent. */
  readonly #open = new Map<string, OpenHandover>()
  /** Agents whose conversations are followed. */
  readonly #followed = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #connection: string

  constructor(chat: Chat) {
    this.#chat = chat
    this.#connection = chat.state.connection
    for (const type of EVENTS) chat.on(type, ({ handover }) => this.#note(handover))
    chat.subscribe(() => this.#reload())
  }

  /** Calls the listener after each change. Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The handover of the conversation with an agent. Undefined: the agent answers, or nobody has loaded it. */
  readonly get = (agentUid: string): OpenHandover | undefined => this.#open.get(agentUid)

  /** Reads it. Call this when the conversation is opened; events say the rest. */
  async load(agentUid: string): Promise<void> {
    this.#followed.add(agentUid)
    const before = this.#open.get(agentUid)
    const { data } = await this.#chat.api.agentHandovers.list({ agentUid, limit: 1 })
    // An event that came meanwhile is newer.
    if (this.#open.get(agentUid) !== before) return
    const [last] = data
    this.#set(agentUid, last?.state === 'closed' ? undefined : last)
  }

  /** Hands the conversation with an agent to a person. `reason` is for that person. */
  async handOver(agentUid: string, reason?: string): Promise<void> {
    const { agentHandovers } = this.#chat.api
    this.#note(await agentHandovers.create({ agentUid, ...(reason && { reason }) }))
  }

  /** Goes on with the agent. Refused once a person has taken the conversation. */
  async takeBack(agentUid: string): Promise<void> {
    const open = this.#open.get(agentUid)
    if (open) this.#note(await this.#chat.api.agentHandovers.close(open.id))
  }

  #note(handover: OpenHandover): void {
    const { agentUid, state } = handover
    const known = this.#open.get(agentUid)
    // An answer can arrive after the event that tells what came next.
    if (known?.id === handover.id && known.state === 'taken' && state === 'open') return
    if (state === 'closed' && known && known.id !== handover.id) return
    this.#set(agentUid, state === 'closed' ? undefined : handover)
  }

  #set(agentUid: string, handover: OpenHandover | undefined): void {
    if (handover) this.#open.set(agentUid, handover)
    else if (!this.#open.delete(agentUid)) return
    for (const listener of this.#listeners) listener()
  }

  /** Events may have been lost while there was no connection. */
  #reload(): void {
    const { connection } = this.#chat.state
    const isBack = connection === 'online' && this.#connection !== 'online'
    this.#connection = connection
    if (!isBack) return
    for (const agentUid of this.#followed) this.load(agentUid).catch(() => undefined)
  }
}
