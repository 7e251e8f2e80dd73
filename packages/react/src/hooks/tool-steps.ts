'use client'
import { type CalledTool, calledTools } from '@loquat/sdk/agents'
import type { LoquatClient } from '@loquat/sdk/client'
import { useEffect, useSyncExternalStore } from 'react'
import { useClient } from '../chat.tsx'

type Tools = readonly CalledTool[]

/** What agents did for their answers, by run. A room can show many answers, so runs are read one by one, the newest first. */
class ToolSteps {
  readonly #client: LoquatClient
  readonly #known = new Map<string, Tools>()
  readonly #listeners = new Set<() => void>()
  readonly #asked = new Set<string>()
  readonly #wanted: string[] = []
  #isReading = false

  constructor(client: LoquatClient) {
    this.#client = client
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly get = (runId: string) => this.#known.get(runId)

  /** Shows what events say, until the run is over and is read. A run that failed may have been started again. */
  keep(runId: string, tools: Tools): void {
    this.#asked.delete(runId)
    this.#set(runId, tools)
  }

  want(runId: string): void {
    if (this.#asked.has(runId)) return
    this.#asked.add(runId)
    this.#wanted.push(runId)
    if (!this.#isReading) void this.#read()
  }

  async #read(): Promise<void> {
    this.#isReading = true
    // All messages that are shown now are asked for first.
    await Promise.resolve()
    for (let runId = this.#wanted.pop(); runId !== undefined; runId = this.#wanted.pop()) {
      const tools = await this.#toolsOf(runId)
      if (!tools) {
        // The next time that the answers are shown, they are asked for again.
        for (const id of [runId, ...this.#wanted.splice(0)]) this.#asked.delete(id)
      } else if (this.#asked.has(runId)) {
        this.#set(runId, merged(this.#known.get(runId), tools))
      }
    }
    this.#isReading = false
  }

  /** None of a run that was deleted; undefined if the server can't be reached or refuses. */
  async #toolsOf(runId: string): Promise<Tools | undefined> {
    try {
      return calledTools((await this.#client.api.agentRuns.get(runId)).steps)
    } catch (error) {
      return (error as { status?: number }).status === 404 ? NONE : undefined
    }
  }

  #set(runId: string, tools: Tools): void {
    this.#known.set(runId, tools)
    for (const listener of this.#listeners) listener()
  }
}

/** The calls of a run, and the own tools of an external agent, which only events mention. */
function merged(known: Tools = [], read: Tools): Tools {
  const tools = new Map(known.map((tool) => [tool.toolCallId, tool]))
  for (const tool of read) tools.set(tool.toolCallId, tool)
  return [...tools.values()]
}

const stores = new WeakMap<LoquatClient, ToolSteps>()

function storeOf(client: LoquatClient): ToolSteps {
  const known = stores.get(client) ?? new ToolSteps(client)
  stores.set(client, known)
  return known
}

/** Remembers the tools of an answer that is being written, for when it is over. */
export function useKeptSteps(runId: string, tools: Tools): void {
  const store = storeOf(useClient())
  useEffect(() => store.keep(runId, tools), [store, runId, tools])
}

/** The tools that an agent called for an answer that is over. Only the user who asked can read them. */
export function useToolSteps(runId: string): Tools {
  const store = storeOf(useClient())
  useEffect(() => store.want(runId), [store, runId])
  const tools = useSyncExternalStore(
    store.subscribe,
    () => store.get(runId),
    () => undefined,
  )
  return tools ?? NONE
}

const NONE: Tools = []
