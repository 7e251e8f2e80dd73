import type { AgentStep } from '../operations.gen.ts'

/** A call of a tool by an agent. */
export interface CalledTool {
  toolCallId: string
  name: string
  /** The name that people see. */
  displayName: string
  /** What people see while it runs, if the app has set it. Only events say it. */
  executionText?: string
  done: boolean
  /** Whether it was refused, or didn't work. Events don't say it, only the steps of the run. */
  failed?: boolean
}

/** The calls of tools among the steps of a run, oldest first. Of calls that were repeated, the last attempt counts. */
export function calledTools(steps: readonly AgentStep[]): CalledTool[] {
  const tools = new Map<string, CalledTool>()
  for (const { no, tool: name, displayName, toolCallId = '', state, endedAt } of steps) {
    // The service makes the search before the first step by itself. Devices don't hear of it, either. What has no name that people see
    // is a tool that only the model believed in.
    if (no === 0 || name === undefined || displayName === undefined) continue
    const failed = state === 'failed' || state === 'cut' || state === 'skipped'
    const done = endedAt !== undefined
    tools.set(toolCallId, { toolCallId, name, displayName, done, ...(failed && { failed }) })
  }
  return [...tools.values()]
}
