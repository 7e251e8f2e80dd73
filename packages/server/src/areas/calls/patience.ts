/** Jobs that ask media servers wait for those that don't answer, but not for ever. */
import { Type } from 'typebox'
import { Postponed, type Run } from '../../platform/jobs/definition.ts'

/** How long to wait. Afterwards the server counts as gone, with all its connections. */
const PATIENCE_MS = 600_000
const RETRY_MS = 10_000

/** When a server didn't answer for the first time, in milliseconds. */
export const Patience = Type.Object({ since: Type.Number() })

type Patient = Pick<Run<unknown, { since: number }, unknown>, 'saved' | 'checkpoint'>

/** Whether the job should wait for a server that doesn't answer. */
export const isPatient = ({ saved }: Patient) =>
  saved === undefined || Date.now() - saved.since < PATIENCE_MS

/** Lets the job run again soon. */
export async function waitForServer({ saved, checkpoint }: Patient): Promise<never> {
  if (!saved) await checkpoint(async () => ({ since: Date.now() }))
  throw new Postponed(RETRY_MS)
}
