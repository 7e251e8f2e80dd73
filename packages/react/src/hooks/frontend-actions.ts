'use client'
import type { WaitingCall } from '@loquat/sdk/agents'
import type { LoquatClient } from '@loquat/sdk/client'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { useClient } from '../chat.tsx'

/**
 * A function of this page that agents may call. The model receives what it returns: a text, or anything else as JSON. If it
 * throws, the model receives the message of the error.
 */
export type FrontendAction = (args: Record<string, unknown>) => unknown

/** The functions by the `triggerFunction` of the frontend actions. */
export type FrontendActions = Readonly<Record<string, FrontendAction>>

/** The server accepts no longer text. */
const LONGEST = 20_000

/**
 * Runs the frontend actions that agents wait for, and says what came of them. All devices of a user learn about a call, so only
 * the page that the user looks at runs it.
 */
export function useFrontendActions(actions: FrontendActions): void {
  const client = useClient()
  const latest = useRef(actions)
  const begun = useRef(new Set<string>())
  useLayoutEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== 'visible') return
      const calls = callsOf(client)
      // After a retry, the same call may wait again.
      for (const key of begun.current) if (!calls.has(key)) begun.current.delete(key)
      for (const [key, { runId, call }] of calls) {
        const { current: known } = latest
        const action = Object.hasOwn(known, call.name) ? known[call.name] : undefined
        if (!action || begun.current.has(key)) continue
        begun.current.add(key)
        void run(client, runId, call, action)
      }
    }
    look()
    document.addEventListener('visibilitychange', look)
    const unsubscribe = client.subscribe(look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      unsubscribe()
    }
  }, [client])
}

/** The calls that wait for a device. */
function callsOf({ state }: LoquatClient) {
  const calls = new Map<string, { runId: string; call: WaitingCall }>()
  for (const { runId, waiting: call } of Object.values(state.answers)) {
    if (call?.waitsFor === 'device') calls.set(`${runId} ${call.toolCallId}`, { runId, call })
  }
  return calls
}

async function run(
  client: LoquatClient,
  runId: string,
  { toolCallId, arguments: args }: WaitingCall,
  action: FrontendAction,
): Promise<void> {
  const outcome = await resultOf(action, args)
  // Another device may have been faster.
  await client.api.agentRuns.continue(runId, { toolCallId, ...outcome }).catch(() => undefined)
}

async function resultOf(action: FrontendAction, args: string) {
  try {
    const result = await action(JSON.parse(args || '{}'))
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'done')
    return { content: text.slice(0, LONGEST) }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { content: text.slice(0, LONGEST), failed: true }
  }
}
