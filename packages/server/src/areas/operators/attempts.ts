import type { Deps } from '../../deps.ts'
import { fail } from '../../platform/http/fail.ts'
import { networkOf } from '../../platform/net/network.ts'
import { giveBackAttempt, removeAttempts, takeAttempt } from './queries.ts'

/**
 * Attempts in 15 minutes. One caller can't lock an operator out for others, and many together are
 * still slow.
 */
const PER_ACCOUNT_AND_ADDRESS = 10
const PER_ACCOUNT = 100
const PER_ADDRESS = 50
const SPAN_SECONDS = 900

const subjectsOf = (account: string, address: string) => {
  const network = networkOf(address)
  return { both: `${account} ${network}`, account, address: network }
}

/**
 * Counts an attempt before anything is compared, so that concurrent attempts all count. Unknown
 * accounts are counted too, so the answer reveals nothing about them.
 */
export async function countAttempt(
  { directory }: Pick<Deps, 'directory'>,
  account: string,
  address: string,
) {
  const subjects = subjectsOf(account, address)
  const limits = [
    [subjects.both, PER_ACCOUNT_AND_ADDRESS],
    [subjects.account, PER_ACCOUNT],
    [subjects.address, PER_ADDRESS],
  ] as const
  for (const [subject, limit] of limits) {
    const { count } = await takeAttempt.one(directory.db, { subject })
    if (count > limit) throw fail('ERR_TOO_MANY_ATTEMPTS', {}, { retryAfter: SPAN_SECONDS })
  }
}

export async function forgiveAttempts(
  { directory }: Pick<Deps, 'directory'>,
  account: string,
  address: string,
) {
  const subjects = subjectsOf(account, address)
  await removeAttempts.run(directory.db, { subjects: [subjects.both, subjects.account] })
  await giveBackAttempt.run(directory.db, { subject: subjects.address })
}
