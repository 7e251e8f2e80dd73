import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import { operatorWrite } from '../../gate/operator-write.ts'
import { fail } from '../../platform/http/fail.ts'
import { Timestamp } from '../../platform/http/schemas.ts'
import { checkPassword } from './actions.ts'
import { insertKey, type KeyRow, listKeys, removeKey, updateKeySecret } from './keys.queries.ts'

const KEYS_PER_OPERATOR = 10

export const Key = Type.Object(
  {
    key: Type.String({ description: 'Send it in the header `key`.' }),
    name: Type.String(),
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'OperatorKey' },
)
export type Key = Static<typeof Key>

export const KeyWithSecret = Type.Object(
  {
    ...Key.properties,
    secret: Type.String({
      description: 'Send it in the header `secret`. It is shown only once.',
    }),
  },
  { additionalProperties: false, 'x-component': 'OperatorKeyWithSecret' },
)
type KeyWithSecret = Static<typeof KeyWithSecret>

export const toKey = ({ key, name, created_at }: KeyRow): Key => ({
  key,
  name,
  createdAt: Math.floor(created_at.getTime() / 1000),
})

const newSecret = () => randomBytes(32).toString('hex')

/** Several keys per operator, so that a new one can be in use before the old one is deleted. */
export async function createKey(
  deps: Deps,
  request: FastifyRequest,
  { name, password }: { name: string; password: string },
): Promise<KeyWithSecret> {
  const { operator } = request
  const operatorNo = operator.no
  // A key outlives the session that creates it.
  const lock = await checkPassword(deps, operator, password)
  return operatorWrite(deps, request, async (tx) => {
    // It also makes the count of keys exact.
    await lock(tx)
    const keys = await listKeys.many(tx, { operatorNo })
    if (keys.length >= KEYS_PER_OPERATOR) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', {
        limit: KEYS_PER_OPERATOR,
        what: 'keys per operator',
      })
    }
    const [key, secret] = [randomBytes(10).toString('hex'), newSecret()]
    const secretHash = deps.secrets.hash(secret)
    const made = toKey(await insertKey.one(tx, { operatorNo, key, secretHash, name }))
    await recordAudit(tx, operator, { action: 'createKey', target: { key }, after: made })
    return { ...made, secret }
  })
}

/** The previous secret is rejected from now on. */
export async function rotateKey(
  deps: Deps,
  request: FastifyRequest,
  key: string,
  password: string,
): Promise<KeyWithSecret> {
  const { operator } = request
  const lock = await checkPassword(deps, operator, password)
  return operatorWrite(deps, request, async (tx) => {
    await lock(tx)
    const secret = newSecret()
    const secretHash = deps.secrets.hash(secret)
    const row = await updateKeySecret.maybeOne(tx, { operatorNo: operator.no, key, secretHash })
    if (!row) throw fail('ERR_KEY_NOT_FOUND')
    await recordAudit(tx, operator, { action: 'rotateKey', target: { key } })
    return { ...toKey(row), secret }
  })
}

export function deleteKey(deps: Deps, request: FastifyRequest, key: string) {
  const { operator } = request
  return operatorWrite(deps, request, async (tx) => {
    const row = await removeKey.maybeOne(tx, { operatorNo: operator.no, key })
    if (!row) throw fail('ERR_KEY_NOT_FOUND')
    await recordAudit(tx, operator, { action: 'deleteKey', target: { key }, before: toKey(row) })
    return { success: true as const, message: 'Key deleted.' }
  })
}
