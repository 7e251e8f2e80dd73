import { updateDisabled } from '../areas/operators/queries.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { changeAccount, counted, getAccount } from './operator-account.ts'

export const operatorsDisable: Command = {
  name: 'operators disable',
  summary: 'Disable an operator: end all sessions and reject sign-ins and keys.',
  args: '<email>',
  flags: [{ flag: '--json', description: 'print one JSON object' }],
  details:
    'Takes effect at once, in every process. The account keeps its apps, roles and keys, so that loquat operators enable restores it. API keys of apps continue to work: if the operator knows them, replace them (docs/management.md).',
  examples: ['loquat operators disable rui@example.org'],
  async run(context, { json }, [email = '']) {
    const { account, sessions } = await withDeps(context, async (deps) => {
      const account = await getAccount(deps, email)
      const change = { before: { disabled: false }, after: { disabled: true } }
      const entry = { action: 'disableOperator', ...change }
      const sessions = await changeAccount(deps, account, entry, async (tx) => {
        const operatorNo = account.operator_no
        if (await updateDisabled.maybeOne(tx, { operatorNo, disabled: true })) return
        throw new UserError(`${account.email} is already disabled. Nothing was changed.`)
      })
      return { account, sessions }
    })
    if (json) {
      const printed = { email: account.email, state: 'disabled', sessionsEnded: sessions }
      return context.print(JSON.stringify(printed))
    }
    // No hint contains the email address: it can contain characters that a shell executes, and people paste hints.
    context.print(
      `Disabled ${account.email} and ended ${counted(sessions, 'session')}. To undo this, use loquat operators enable.`,
    )
  },
}
