import { updateDisabled } from '../areas/operators/queries.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { changeAccount, getAccount } from './operator-account.ts'

export const operatorsEnable: Command = {
  name: 'operators enable',
  summary: 'Enable an operator who was disabled.',
  args: '<email>',
  flags: [{ flag: '--json', description: 'print one JSON object' }],
  details:
    'The operator can sign in again with the same password, and the operator keys work again. If somebody else may know the password, run loquat operators reset-password --end-keys first.',
  examples: ['loquat operators enable rui@example.org'],
  async run(context, { json }, [given = '']) {
    const { email } = await withDeps(context, async (deps) => {
      const account = await getAccount(deps, given)
      const change = { before: { disabled: true }, after: { disabled: false } }
      await changeAccount(deps, account, { action: 'enableOperator', ...change }, async (tx) => {
        const operatorNo = account.operator_no
        if (await updateDisabled.maybeOne(tx, { operatorNo, disabled: false })) return
        throw new UserError(`${account.email} is not disabled. Nothing was changed.`)
      })
      return account
    })
    context.print(json ? JSON.stringify({ email, state: 'active' }) : `Enabled ${email}.`)
  },
}
