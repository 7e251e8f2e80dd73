import { type Region, regions } from '@loquat/protocol'
import { type NewApp, NoCell, provisionApp } from '../areas/apps/actions.ts'
import { findOperatorByEmail } from '../areas/operators/queries.ts'
import type { Deps } from '../deps.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const appsCreate: Command = {
  name: 'apps create',
  summary: 'Create an app: an isolated set of users, groups, messages and keys.',
  flags: [
    { flag: '--name <name>', description: 'the name of the app', required: true },
    {
      flag: '--region <region>',
      description: 'the region that stores its data',
      default: 'us',
      choices: regions,
    },
    { flag: '--owner <email>', description: 'the operator who owns it' },
    { flag: '--json', description: 'print one JSON object' },
  ],
  details:
    'Prints the base URL and two API keys. The REST key has full access; keep it on your server. The auth key can only manage auth tokens. GET /apikeys returns both again.',
  examples: [
    'loquat apps create --name "Book club"',
    'loquat apps create --name Clinic --region eu --json',
  ],
  async run(context, flags) {
    const name = String(flags.name).trim()
    if (name.length === 0 || name.length > 100)
      throw new UserError('--name must have 1 to 100 characters.')
    const region = flags.region as Region
    const app = await withDeps(context, (deps) => create(deps, { name, region }, flags.owner))
    if (flags.json) return context.print(JSON.stringify(app))
    context.print(
      [
        `App       ${app.appId} in region ${app.region}`,
        `Base URL  ${app.baseUrl}`,
        `REST key  ${app.apiKey}   (fullAccess)`,
        `Auth key  ${app.authKey}   (authOnly)`,
      ].join('\n'),
    )
  },
}

async function create(deps: Deps, app: NewApp, owner: string | boolean | undefined) {
  try {
    return await provisionApp(deps, app, owner ? await operatorNo(deps, String(owner)) : undefined)
  } catch (error) {
    if (!(error instanceof NoCell)) throw error
    throw new UserError(
      `${error.message} Add one: loquat cells add --region ${app.region} --url postgres://…`,
    )
  }
}

async function operatorNo({ directory }: Deps, email: string): Promise<number> {
  const row = await findOperatorByEmail.maybeOne(directory.db, { email: email.toLowerCase() })
  if (!row)
    throw new UserError(`There is no operator "${email}". Create one: loquat operators create`)
  return row.operator_no
}
