/** Which API keys a key may change. */
import type { Actor } from '../../core/actor.ts'
import type { Refusal } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'

/** A key that could change or delete itself could lock its app out by mistake. */
export const refuseOwnKey = (
  { credential }: Pick<Actor, 'credential'>,
  keyHash: Buffer,
): Refusal => (keyHash.equals(credential) ? fail('ERR_APIKEY_NO_SELF_ACTION') : undefined)
