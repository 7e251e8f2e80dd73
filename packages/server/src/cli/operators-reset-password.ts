import { removeAllKeys } from '../areas/operators/keys.queries.ts'
import { removeAllAttempts, updateOperatorRow } from '../areas/operators/queries.ts'
import { hashPassword } from '../platform/secrets/passwords.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { changeAccount, getAccount } from './operator-account.ts'
import { newPassword } from './operators-create.ts'

export const operatorsResetPassword: Command = {
  name: 'operators reset-password',
  summary: 'Give an operator a new password and end all sessions.',
  args: '<email>',
  flags: [
    { flag: '--end-keys', description: "also delete the operator's keys, so that scripts stop" },
    { flag: '--json', description: 'print one JSON object' },
  ],
  details:
    'Generates a password and prints it once. The operator can change it after signing in. Two-factor authentication stays on; to turn it off, run loquat operators reset-totp.',
  examples: [
    'loquat operators reset-password rui@example.org',
    'loquat operators reset-password rui@example.org --end-keys',
  ],
  async run(context, { json, endKeys = false }, [given = '']) {
    const password = newPassword()
    const { email, disabled_at } = await withDeps(context, async (deps) => {
      const account = await getAccount(deps, given)
      const { operator_no: operatorNo, email } = account
      const passwordHash = await hashPassword(password)
      const entry = { action: 'resetPassword', after: { endKeys } }
      await changeAccount(deps, account, entry, async (tx) => {
        await updateOperatorRow.one(tx, { operatorNo, name: null, passwordHash })
        await removeAllAttempts.run(tx, { email })
        if (endKeys) await removeAllKeys.run(tx, { operatorNo })
      })
      return account
    })
    if (json) return context.print(JSON.stringify({ email, password }))
    context.print(`Operator  ${email}\nPassword  ${password}`)
    if (disabled_at) {
      context.note('This account is still disabled. To enable it, use loquat operators enable.')
    }
  },
}
