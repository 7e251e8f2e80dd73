/** Questions to agents, and the runs that answer them. */
import type { TestApp, UserClient } from './kit.ts'
import { until } from './until.ts'

export interface Asking {
  app: TestApp
  amira: UserClient
  agent: string
}

export type Run = Awaited<ReturnType<TestApp['client']['agentRuns']['get']>>

/** Waits until the question has a run in this state, or one that ended. */
export const runOf = ({ app }: Asking, messageId: string, state?: Run['state']): Promise<Run> =>
  until(`a run of ${messageId}`, async () => {
    const { data } = await app.client.agentRuns.list()
    const found = data.find((run) => run.messageId === messageId)
    const done = state ? found?.state === state : found?.endedAt !== undefined
    return found && done ? app.client.agentRuns.get(found.id) : undefined
  })

/** Amira asks, and the run ends. */
export async function ask(asking: Asking, text: string, more: object = {}): Promise<Run> {
  const { id } = await asking.amira.sendText(asking.agent, text, more)
  return runOf(asking, id)
}
