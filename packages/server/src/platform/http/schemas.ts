import { ByName, type ErrorCode, errors } from '@loquat/protocol'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** Unix seconds. */
export const Timestamp = (description: string) => Type.Integer({ minimum: 0, description })

/** The last millisecond that a Date can hold. */
const LAST_MS = 8_640_000_000_000_000

/** Unix milliseconds. */
export const Milliseconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: LAST_MS, description })

/** The id of a user, group or role. It is converted to lower case. */
export const Id = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^[A-Za-z0-9_-]*$',
    'x-lower': true,
    description,
  })

/** Whether a lowercase text is a valid id. */
export const isId = (text: string) => /^[a-z0-9_-]{1,100}$/.test(text)

/** A name or label: trimmed, 1 to `max` characters. An emoji counts as two. */
export const Name = (max: number, description: string) =>
  Type.String({ 'x-maxCharacters': max, description })

/** Free text, which may be empty. */
export const Text = (max: number, description: string) =>
  Type.String({ maxLength: max, description })

/** The URL of a picture or page. Only the URL is stored. */
export const Url = (description: string) =>
  Type.String({ maxLength: 3000, 'x-url': true, description })

/** Any JSON object of the caller. */
export const Metadata = (maxBytes: number, description: string) =>
  ByName(Type.Unknown(), { 'x-maxBytes': maxBytes, description })

/** A field that can be cleared with null. */
export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [(schema as { type?: string }).type, 'null'] })

/** Commas separate the values of a list in a query, so no filter could find a tag that contains one. */
export const NO_COMMA = '^[^,]*$'

const Tag = Type.String({
  'x-maxCharacters': 100,
  pattern: NO_COMMA,
  description: 'A tag: 1 to 100 characters without a comma. Spaces around it are removed.',
})

export const Tags = (description: string) =>
  Type.Array(Tag, { maxItems: 25, 'x-trimItems': true, uniqueItems: true, description })

/** The fields that an update clears. */
export const Unset = <const T extends string[]>(fields: [...T]) =>
  Type.Array(Type.Enum(fields), { uniqueItems: true, description: 'Fields to clear.' })

/** The outcome for one of several ids. `codes` are the possible errors. */
export const Outcome = (codes: ErrorCode[]) =>
  Type.Object(
    {
      success: Type.Boolean(),
      message: Type.Optional(Type.String()),
      error: Type.Optional(
        Type.Object(
          { code: Type.String({ enum: codes }), message: Type.String() },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  )

/** `{"data": …}` */
export const Data = <T extends TSchema>(data: T) =>
  Type.Object({ data }, { additionalProperties: false })

export const Pagination = Type.Object(
  {
    total: Type.Integer(),
    count: Type.Integer(),
    per_page: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
    total_capped: Type.Optional(
      Type.Literal(true, {
        description:
          'Present if counting stopped at `total`: there can be more records. `total_pages` is then an upper limit until you reach the last page.',
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'Pagination' },
)

/** `next` belongs to keyset lists; the other fields to lists that can be read from a given time. */
const PageCursor = Type.Object(
  {
    next: Type.Optional(
      Type.String({ description: 'Pass this as `cursor` to get the next page.' }),
    ),
    updatedAt: Type.Optional(
      Timestamp(
        'Time of the last record of this page, in Unix seconds. Pass it with `affix` to get the next page.',
      ),
    ),
    id: Type.Optional(
      Type.String({
        description:
          'Id of the last record of this page. Pass it with `updatedAt` to get the next page.',
      }),
    ),
    affix: Type.Optional(Type.Enum(['append', 'prepend'])),
  },
  { additionalProperties: false, 'x-component': 'Cursor' },
)

/** `{"data": […], "meta": {"pagination": …}}` */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object(
        { pagination: Pagination, cursor: Type.Optional(PageCursor) },
        { additionalProperties: false, 'x-component': 'PageMeta' },
      ),
    },
    { additionalProperties: false },
  )

/** `{"data": {"success": true, "message": …}}` */
export const Acknowledged = Data(
  Type.Object(
    { success: Type.Literal(true), message: Type.String() },
    { additionalProperties: false, 'x-component': 'Acknowledged' },
  ),
)

/** `perPage` and `page`, in addition to the filters of a list. */
export const PageQuery = <T extends TProperties>(filters: T) =>
  Type.Object({
    ...filters,
    perPage: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Maximum number of records per page.',
    }),
    page: Type.Integer({ minimum: 1, default: 1, description: 'Page number, starting at 1.' }),
  })

export interface PageRequest {
  perPage: number
  page: number
}

/** `meta.pagination` of a list with `total` matching records. */
export const pagination = ({ perPage, page }: PageRequest, total: number, count: number) => ({
  pagination: {
    total,
    count,
    per_page: perPage,
    current_page: page,
    total_pages: Math.ceil(total / perPage),
  },
})

/** A page of a list that is read as a whole because it is short. */
export function pageOf<R, T>(query: PageRequest, rows: R[], show: (row: R) => T) {
  const { page, perPage } = query
  const data = rows.slice((page - 1) * perPage, page * perPage).map(show)
  return { data, meta: pagination(query, rows.length, data.length) }
}

/** The errors that every operation can return. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'AUTH_ERR_EMPTY_APPID',
  'AUTH_ERR_INVALID_APPID',
  'AUTH_ERR_EMPTY_APIKEY',
  'AUTH_ERR_APIKEY_NOT_FOUND',
  'AUTH_ERR_EMPTY_AUTH_TOKEN',
  'AUTH_ERR_AUTH_TOKEN_NOT_FOUND',
  'AUTH_ERR_NO_ACCESS',
  'ERR_APP_SUSPENDED',
  'ERR_BAD_REQUEST',
  'ERR_TOO_MANY_REQUESTS',
  'ERR_TOO_MANY_AT_ONCE',
  'ERR_EXCEPTION',
  'ERR_MISSION_FAILED',
]

/** The errors that every operation with a body or an `Idempotency-Key` can return. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_IDEMPOTENCY_KEY_REUSED',
]

/** The response schemas of the given codes, one for each status. */
export function failures(codes: readonly ErrorCode[]): Record<string, TSchema> {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status)
  return Object.fromEntries([...byStatus].map(([status, same]) => [status, ErrorBody(same)]))
}

const errorFields = {
  message: Type.String({ description: 'What happened. The text may change; rely on `code`.' }),
  devMessage: Type.Optional(Type.String({ description: 'A hint for developers.' })),
  details: Type.Optional(
    ByName(Type.Array(Type.String()), { description: 'What is wrong, by field.' }),
  ),
}

/** The errors of one status of an operation: the error of all operations, with fewer codes. */
const ErrorBody = (codes: ErrorCode[]) =>
  Type.Object(
    {
      error: Type.Object(
        { code: Type.String({ enum: codes }), ...errorFields },
        { additionalProperties: false, 'x-component': 'Error', 'x-narrows': ['code'] },
      ),
    },
    { additionalProperties: false, description: codes.join(', ') },
  )

/** Any error. */
export const ErrorRecord = Type.Object(
  { code: Type.String({ description: 'A code of the list of errors.' }), ...errorFields },
  { additionalProperties: false },
)
