/** How an id that PostgreSQL made (`gen_random_uuid`) looks, as a pattern of JSON Schema. */
export const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

const PATTERN = new RegExp(UUID)

/** Any other text is the id of nothing, and PostgreSQL would refuse it. */
export const isUuid = (text: string) => PATTERN.test(text)
