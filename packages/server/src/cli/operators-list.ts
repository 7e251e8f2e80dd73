import { listOperators } from '../areas/operators/queries.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { day, table, unixSeconds } from './table.ts'

export const operatorsList: Command = {
  name: 'operators list',
  summary: 'List all operators.',
  flags: [{ flag: '--json', description: 'print one JSON array' }],
  details:
    'Shows every account, whether it is disabled, whether it uses two-factor authentication (2FA), and the number of its apps, open sessions and keys.',
  examples: ['loquat operators list', 'loquat operators list --json'],
  async run(context, { json }) {
    const rows = await withDeps(context, ({ directory }) => listOperators.many(directory.db, {}))
    const operators = rows.map(({ created_at, disabled_at, ...row }) => ({
      ...{ ...row, state: disabled_at ? 'disabled' : 'active', createdAt: created_at },
    }))
    if (json) {
      const printed = operators.map((row) => ({ ...row, createdAt: unixSeconds(row.createdAt) }))
      return context.print(JSON.stringify(printed))
    }
    if (rows.length === 0) {
      context.note('No operators yet. Create one: loquat operators create --email … --name …')
    }
    context.print(
      table(
        ['EMAIL', 'NAME', 'STATE', '2FA', 'APPS', 'SESSIONS', 'KEYS', 'CREATED'],
        operators.map(({ email, name, state, totp, apps, sessions, keys, createdAt }) => [
          ...[email, name, state, totp ? 'on' : 'off'],
          ...[String(apps), String(sessions), String(keys), day(createdAt)],
        ]),
      ),
    )
  },
}
