/** The app that `loquat dev` creates, and the operator who owns it. */
import { toApiKey } from '../areas/apikeys/actions.ts'
import { listApiKeys } from '../areas/apikeys/queries.ts'
import { baseUrl, provisionApp } from '../areas/apps/actions.ts'
import { findAppByName } from '../areas/apps/queries.ts'
import { findOperatorByEmail } from '../areas/operators/queries.ts'
import type { Deps } from '../deps.ts'
import { isPassword } from '../platform/secrets/passwords.ts'
import { seedDemo } from './demo-seed.ts'
import { createOperator } from './operators-create.ts'

/** The operator of `loquat dev`, who owns its apps. */
export const DEMO_EMAIL = 'demo@localhost'

export interface DemoApp {
  appId: string
  baseUrl: string
  apiKey: string
}

/** Returns the demo app of an earlier start as it is now, or creates it with its people and messages. */
export async function demoApp(
  deps: Deps,
  { no: operatorNo, email }: DemoOperator,
): Promise<DemoApp> {
  const { directory, secrets, config } = deps
  const known = await findAppByName.maybeOne(directory.db, { name: 'Demo' })
  const app = known && (await directory.find(known.app_id))
  if (!app?.cell) {
    return provisionApp(
      deps,
      { name: 'Demo', region: 'us' },
      { owner: { no: operatorNo, email }, prepare: (created) => seedDemo(deps, created) },
    )
  }
  const [key] = await listApiKeys.many(app.cell.db, {
    appNo: app.no,
    scope: 'fullAccess',
    searchKey: null,
  })
  return {
    appId: app.id,
    baseUrl: baseUrl(config.service.publicUrl, app.id, app.region),
    apiKey: key ? toApiKey(secrets, key).apiKey : '(all fullAccess keys were deleted)',
  }
}

export interface DemoOperator {
  no: number
  email: string
  password: string
}

/**
 * The operator to sign in to the console as. The password is derived from the installation's secret, so it is the
 * same at each start, different elsewhere, and stored nowhere.
 */
export async function demoOperator(deps: Deps): Promise<DemoOperator> {
  const { directory, secrets } = deps
  const email = DEMO_EMAIL
  const password = secrets.hash('the demo operator').toString('base64url').slice(0, 16)
  const known = await findOperatorByEmail.maybeOne(directory.db, { email })
  const no = known?.operator_no ?? (await createOperator(deps, { email, name: 'Demo', password }))
  const own = known && !(await isPassword(password, known.password_hash))
  return { no, email, password: own ? '(the password that you chose)' : password }
}
