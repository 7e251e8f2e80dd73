import { removeRecoveryCodes, removeTotpSecret } from '../areas/operators/totp.queries.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { changeAccount, counted, getAccount } from './operator-account.ts'

export const operatorsResetTotp: Command = {
  name: 'operators reset-totp',
  summary: "Turn off an operator's two-factor authentication and end all sessions.",
  args: '<email>',
  flags: [{ flag: '--json', description: 'print one JSON object' }],
  details:
    'For an operator who lost the device and the recovery codes. Until they turn it on again, the password alone is enough to sign in, so make sure that the request really comes from them.',
  examples: ['loquat operators reset-totp rui@example.org'],
  async run(context, { json }, [given = '']) {
    const { email, sessions } = await withDeps(context, async (deps) => {
      const account = await getAccount(deps, given)
      const { operator_no: operatorNo, email } = account
      const change = { before: { totp: true }, after: { totp: false } }
      const entry = { action: 'resetTotp', ...change }
      const sessions = await changeAccount(deps, account, entry, async (tx) => {
        if (!(await removeTotpSecret.maybeOne(tx, { operatorNo }))) {
          throw new UserError(
            `${email} doesn't use two-factor authentication. Nothing was changed.`,
          )
        }
        await removeRecoveryCodes.run(tx, { operatorNo })
      })
      return { email, sessions }
    })
    if (json) {
      return context.print(JSON.stringify({ email, totp: false, sessionsEnded: sessions }))
    }
    context.print(
      `Turned off two-factor authentication of ${email} and ended ${counted(sessions, 'session')}.`,
    )
  },
}
