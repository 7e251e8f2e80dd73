import { listAllApps } from '../areas/apps/queries.ts'
import { listRestrained } from '../areas/apps/restrain.queries.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { day, table, unixSeconds } from './table.ts'

export const appsList: Command = {
  name: 'apps list',
  summary: 'List all apps.',
  flags: [{ flag: '--json', description: 'print one JSON array' }],
  details:
    'Shows all apps of the installation, oldest first, with region, cell, state and owner. An archived app was deleted and can still be restored; loquat apps resume ends the states suspended and throttled. To get the API keys of an app, call GET /apikeys or open the app in the console.',
  examples: ['loquat apps list', 'loquat apps list --json'],
  async run(context, { json }) {
    const rows = await withDeps(context, async ({ directory }) => {
      const all = await listAllApps.many(directory.db, {})
      const cells = directory.cells().map(({ db }) => listRestrained.many(db, {}))
      // A cell that doesn't answer must not hide the list.
      const found = (await Promise.allSettled(cells)).flatMap((cell) =>
        cell.status === 'fulfilled' ? cell.value : [],
      )
      const restrained = new Map(
        found.map(({ app_id, suspended }) => [app_id, suspended ? 'suspended' : 'throttled']),
      )
      return all.map((app) => ({
        ...app,
        state: (app.state === 'active' && restrained.get(app.app_id)) || app.state,
      }))
    })
    if (json) {
      const apps = rows.map(({ app_id, cell_id, created_at, ...app }) => ({
        ...{ appId: app_id, ...app, cell: cell_id, createdAt: unixSeconds(created_at) },
      }))
      return context.print(JSON.stringify(apps))
    }
    if (rows.length === 0) context.note('No apps yet. Create one: loquat apps create --name "…"')
    context.print(
      table(
        ['APP', 'NAME', 'REGION', 'CELL', 'STATE', 'OWNER', 'CREATED'],
        rows.map((app) => [
          ...[app.app_id, app.name, app.region, app.cell_id, app.state],
          ...[app.owner ?? '-', day(app.created_at)],
        ]),
      ),
    )
  },
}
