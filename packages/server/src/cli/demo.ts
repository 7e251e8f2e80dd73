/** The app that `loquat dev` creates, and the operator who owns it. */
import { listApiKeys } from '../areas/apikeys/queries.ts'
import { baseUrl, provisionApp } from '../areas/apps/actions.ts'
import { findAppByName } from '../areas/apps/queries.ts'
import { findOperatorByEmail, insertInvited } from '../areas/operators/queries.ts'
import type { Deps } from '../deps.ts'
import { isPassword } from '../platform/secrets/passwords.ts'
import { createOperator } from './operators-create.ts'

export interface DemoApp {
  appId: string
  baseUrl: string
  apiKey: string
}

/** Returns the demo app of an earlier start, or creates it. */
export async function demoApp(deps: Deps): Promise<DemoApp> {
  const { directory, secrets, config } = deps
  const known = await findAppByName.maybeOne(directory.db, { name: 'Demo' })
  const app = known && (await directory.find(known.app_id))
  if (!app?.cell) return provisionApp(deps, { name: 'Demo', region: 'us' })
  const [key] = await listApiKeys.many(app.cell.db, {
    appNo: app.no,
    scope: 'fullAccess',
    searchKey: null,
  })
  return {
    appId: app.id,
    baseUrl: baseUrl(config.service.publicUrl, app.id, app.region),
    apiKey: key ? secrets.open(key.key_sealed) : '(all fullAccess keys were deleted)',
  }
}

export interface DemoOperator {
  email: string
  password: string
}

/**
 * The operator to sign in to the console as. The password is derived from the installation's secret, so it is the
 * same at each start, different elsewhere, and stored nowhere.
 */
export async function demoOperator(deps: Deps, appId: string): Promise<DemoOperator> {
  const { directory, secrets } = deps
  const email = 'demo@localhost'
  const password = secrets.hash('the demo operator').toString('base64url').slice(0, 16)
  const known = await findOperatorByEmail.maybeOne(directory.db, { email })
  const operatorNo =
    known?.operator_no ?? (await createOperator(deps, { email, name: 'Demo', password }))
  const app = await directory.find(appId)
  if (app) await insertInvited.run(directory.db, { appNo: app.no, operatorNo, role: 'owner' })
  const own = known && !(await isPassword(password, known.password_hash))
  return { email, password: own ? '(the password that you chose)' : password }
}
