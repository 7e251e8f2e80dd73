'use client'
import { Handovers, type OpenHandover } from '@loquat/sdk/agents'
import type { LoquatClient, Target } from '@loquat/sdk/client'
import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { useClient } from '../chat.tsx'
import { useIsAgent } from './answers.ts'

const stores = new WeakMap<LoquatClient, Handovers>()

function handoversOf(client: LoquatClient): Handovers {
  const known = stores.get(client) ?? new Handovers(client)
  stores.set(client, known)
  return known
}

export interface HandoverState {
  /** Undefined while the agent answers. */
  handover: OpenHandover | undefined
  /** Asks for a person. `reason` is for that person. */
  handOver: (reason?: string) => Promise<void>
  /** Goes on with the agent, if nobody has taken the conversation yet. */
  takeBack: () => Promise<void>
}

/** Whether a person answers in a conversation with an agent, and how to change that. */
export function useHandover({ type, id }: Target): HandoverState {
  const store = handoversOf(useClient())
  const isAgent = useIsAgent({ type, id })
  useEffect(() => {
    if (isAgent) store.load(id).catch(() => undefined)
  }, [store, isAgent, id])
  const handover = useSyncExternalStore(
    store.subscribe,
    () => (isAgent ? store.get(id) : undefined),
    () => undefined,
  )
  const handOver = useCallback((reason?: string) => store.handOver(id, reason), [store, id])
  const takeBack = useCallback(() => store.takeBack(id), [store, id])
  return { handover, handOver, takeBack }
}
