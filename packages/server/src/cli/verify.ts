import { UserError } from '../platform/errors.ts'
import { checks } from '../verify/checks.ts'
import { verify } from '../verify/verify.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

/** A recount of a large app takes its time. */
const PATIENT = { LOQUAT_DB_TIMEOUT_MS: '600000' }

export const verifyCommand: Command = {
  name: 'verify',
  summary: "Recount an app's counts, order, marks and totals, and print every difference.",
  flags: [
    { flag: '--app <id>', description: 'The app.', required: true },
    { flag: '--json', description: 'Print one JSON object.' },
  ],
  details: 'Can run while the app is in use. Exits with 1 when there is a difference.',
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
      PATIENT,
    )
    if (json) context.print(JSON.stringify({ app: appId, checks: checks.length, differences }))
    else {
      for (const { what, id, stored, counted } of differences) {
        context.print(`${what}: ${id} has ${stored}, recounted ${counted}`)
      }
      context.print(`${checks.length} checks, ${differences.length} differences`)
    }
    if (differences.length > 0) process.exitCode = 1
  },
}
