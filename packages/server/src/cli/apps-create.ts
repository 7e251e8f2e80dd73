import { type Region, regions } from '@loquat/protocol'
import { type NewApp, NoCell, provisionApp } from '../areas/apps/actions.ts'
import { findOperatorByEmail, type OperatorRow } from '../areas/operators/queries.ts'
import type { Deps } from '../deps.ts'
import { isEnginesUrl } from '../engines/engines.ts'
import { enginesDir } from '../engines/folder.ts'
import { UserError } from '../platform/errors.ts'
import type { Command, Context } from './command.ts'
import { DEMO_EMAIL } from './demo.ts'
import { withDeps } from './deps.ts'
import { getAccount } from './operator-account.ts'

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
    {
      flag: '--owner <email>',
      description: 'the operator who owns it; on the engines of loquat dev, its own by default',
    },
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
    const app = await withDeps(context, async (deps) => {
      const owner = await ownerOf(context, deps, flags.owner)
      const created = await create(deps, { name, region }, owner)
      return { ...created, ...(owner && { owner: owner.email }) }
    })
    if (flags.json) return context.print(JSON.stringify(app))
    context.print(
      [
        `App       ${app.appId} in region ${app.region}`,
        `Base URL  ${app.baseUrl}`,
        `REST key  ${app.apiKey}   (fullAccess)`,
        `Auth key  ${app.authKey}   (authOnly)`,
        ...(app.owner ? [`Owner     ${app.owner}`] : []),
      ].join('\n'),
    )
  },
}

async function create(deps: Deps, app: NewApp, owner: OperatorRow | undefined) {
  try {
    return await provisionApp(deps, app, {
      owner: owner && { no: owner.operator_no, email: owner.email },
    })
  } catch (error) {
    if (!(error instanceof NoCell)) throw error
    throw new UserError(
      `${error.message} Add one: loquat cells add --region ${app.region} --url postgres://…`,
    )
  }
}

/**
 * The operator in --owner. Without one, that of loquat dev, but only on its engines: in another installation anybody
 * could have signed up with that email address.
 */
async function ownerOf(
  { env }: Context,
  deps: Deps,
  email: string | boolean | undefined,
): Promise<OperatorRow | undefined> {
  const { config, directory } = deps
  if (email === undefined) {
    if (!isEnginesUrl(enginesDir(env), config.engines.directoryUrl)) return undefined
    return findOperatorByEmail.maybeOne(directory.db, { email: DEMO_EMAIL })
  }
  const account = await getAccount(deps, String(email))
  if (account.disabled_at) {
    throw new UserError(
      `${account.email} is disabled. Choose another owner, or enable the account with loquat operators enable.`,
    )
  }
  return account
}
