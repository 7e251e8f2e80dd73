/** Operators in a test, and their requests to the management API. */
import { randomBytes } from 'node:crypto'
import { LoquatManagement } from '@loquat/sdk'
import { insertOwner } from '../src/areas/apps/queries.ts'
import { insertOperator } from '../src/areas/operators/queries.ts'
import { insertSession } from '../src/areas/operators/sessions.queries.ts'
import type { Role } from '../src/gate/operator.ts'
import { SESSION_COOKIE } from '../src/gate/operators.ts'
import { cookieName } from '../src/platform/http/cookies.ts'
import { hashPassword } from '../src/platform/secrets/passwords.ts'
import { type Answer, call, checkedFetch, type TestApp, type TestServer } from './kit.ts'

export interface ManageOptions {
  body?: unknown
  headers?: Record<string, string>
  /** Another session, or none. */
  cookie?: string | null
}

export interface TestOperator {
  no: number
  email: string
  password: string
  /** The value of the header `cookie`. */
  cookie: string
  /** Sends a raw request to `/manage…` with the session, unless `options` say otherwise. Its answer is checked. */
  call(method: string, path: string, options?: ManageOptions): Promise<Answer>
  /** The SDK with the session; its answers are checked too. */
  client: LoquatManagement
}

/** The cookie that an answer sets, as a request sends it back. */
export const cookieOf = ({ headers }: Pick<Answer, 'headers'>) =>
  (headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''

/** Sends a request without credentials other than those in `headers`. */
export const manage = (
  { service }: Pick<TestServer, 'service'>,
  method: string,
  path: string,
  { body, headers = {} }: ManageOptions = {},
) => call(service.apiPort ?? 0, method, `/manage${path}`, { headers, body })

export async function signIn(server: TestServer, body: object, headers = {}): Promise<Answer> {
  return manage(server, 'POST', '/sessions', { body, headers })
}

const password = randomBytes(9).toString('hex')
/** Hashed once, because it costs as much as a hundred requests. */
const passwordHash = hashPassword(password)

/** Creates an account with a session, as the service would. */
export async function newOperator(
  server: TestServer,
  email = `${randomBytes(6).toString('hex')}@example.org`,
): Promise<TestOperator> {
  const { directory, secrets } = server.deps
  const account = { email, name: 'Rui', passwordHash: await passwordHash }
  const { operator_no: no } = await insertOperator.one(directory.db, account)
  const token = randomBytes(32).toString('base64url')
  await insertSession.run(directory.db, {
    tokenHash: secrets.hash(token),
    operatorNo: no,
    address: '127.0.0.1',
    userAgent: 'test',
    days: 1,
  })
  const secure = server.env.LOQUAT_PUBLIC_URL?.startsWith('https:') ?? false
  const cookie = `${cookieName(SESSION_COOKIE, secure)}=${token}`
  return {
    no,
    email,
    password,
    cookie,
    call(method, path, options = {}) {
      const shown = options.cookie === undefined ? cookie : options.cookie
      const headers = { ...(shown !== null && { cookie: shown }), ...options.headers }
      return manage(server, method, path, { ...options, headers })
    },
    client: new LoquatManagement({
      baseUrl: `http://127.0.0.1:${server.service.apiPort}/manage`,
      fetch: (url, init) => {
        const headers = new Headers(init.headers)
        headers.set('cookie', cookie)
        return checkedFetch(url, { ...init, headers })
      },
      maxRetries: 0,
    }),
  }
}

/** Gives an operator a role in an app. */
export async function join(
  { deps }: TestServer,
  { no: appNo }: Pick<TestApp, 'no'>,
  { no: operatorNo }: Pick<TestOperator, 'no'>,
  role: Role,
): Promise<void> {
  if (role === 'owner') {
    await insertOwner.run(deps.directory.db, { appNo, operatorNo })
    return
  }
  const text = 'insert into collaborators (app_no, operator_no, role) values ($1, $2, $3)'
  await deps.directory.db.query({ name: '', text, values: [appNo, operatorNo, role] })
}
