import { Ajv } from 'ajv'
import type { TSchema } from 'typebox'
import { lazily } from './lazily.ts'

/** `strict: false`: the schemas have keywords that only describe. */
const ajv = new Ajv({ strict: false, validateSchema: false })

/**
 * Whether values are what a schema says, for values that aren't part of an HTTP request. With Ajv, which validates
 * those too: typebox's own compiler would be 300 more modules in every start.
 */
export function matcher(schema: TSchema): (value: unknown) => boolean {
  const validate = lazily(() => ajv.compile(schema))
  return (value) => validate()(value) === true
}
