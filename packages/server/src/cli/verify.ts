import { UserError } from '../platform/errors.ts'
import { checks } from '../verify/checks.ts'
import { verify } from '../verify/verify.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

/** Recounting a large app can take minutes. */
const LONG_TIMEOUT = { env: { LOQUAT_DB_TIMEOUT_MS: '600000' } }

export const verifyCommand: Command = {
  name: 'verify',
  summary:
    "Check an app's data: recount its counters, order, marks and totals, and print every difference.",
  flags: [
    { flag: '--app <id>', description: 'the id of the app', required: true },
    { flag: '--json', description: 'print one JSON object' },
  ],
  details: 'You can run it while the app is in use. The exit code is 1 if there are differences.',
  examples: ['loquat verify --app 9f01c2aa77d41b30', 'loquat verify --app 9f01c2aa77d41b30 --json'],
  async run(context, { app: appId, json }) {
    const differences = await withDeps(
      context,
      async ({ directory }) => {
        const app = await directory.find(String(appId))
        if (!app?.cell) throw new UserError(`There is no app "${appId}".`)
        return verify(app.cell, app.no, ({ what }, nth) =>
          context.note(`${nth + 1}/${checks.length} ${what}`),
        )
      },
      LONG_TIMEOUT,
    )
    if (json) context.print(JSON.stringify({ app: appId, checks: checks.length, differences }))
    else {
      for (const { what, id, stored, counted } of differences) {
        context.print(`${what}: ${id} has ${stored}, recounted ${counted}`)
      }
      context.print(`${checks.length} checks, ${differences.length} differences`)
    }
    if (differences.length > 0) throw new UserError("The app's data differs from the recount.")
  },
}
