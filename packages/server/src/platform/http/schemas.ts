import { type ErrorCode, errors } from '@loquat/protocol'
import { type TProperties, type TSchema, Type } from 'typebox'

/** Unix seconds. */
export const Timestamp = (description: string) => Type.Integer({ minimum: 0, description })

/** `{"data": …}` */
export const Data = <T extends TSchema>(data: T) =>
  Type.Object({ data }, { additionalProperties: false })

const Pagination = Type.Object(
  {
    total: Type.Integer(),
    count: Type.Integer(),
    per_page: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
  },
  { additionalProperties: false },
)

/** `{"data": […], "meta": {"pagination": …}}` */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object({ pagination: Pagination }, { additionalProperties: false }),
    },
    { additionalProperties: false },
  )

/** `{"data": {"success": true, "message": …}}` */
export const Acknowledged = Data(
  Type.Object(
    { success: Type.Literal(true), message: Type.String() },
    { additionalProperties: false },
  ),
)

/** `perPage` and `page`, beside the filters of a list. */
export const PageQuery = <T extends TProperties>(filters: T) =>
  Type.Object({
    ...filters,
    perPage: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Records per request.',
    }),
    page: Type.Integer({ minimum: 1, default: 1, description: 'Number of the page.' }),
  })

export interface PageRequest {
  perPage: number
  page: number
}

/** `meta.pagination` of a list of which `total` records match. */
export const pagination = ({ perPage, page }: PageRequest, total: number, count: number) => ({
  pagination: {
    total,
    count,
    per_page: perPage,
    current_page: page,
    total_pages: Math.ceil(total / perPage),
  },
})

/** What every operation can answer with, whatever it does. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'AUTH_ERR_EMPTY_APPID',
  'AUTH_ERR_INVALID_APPID',
  'AUTH_ERR_EMPTY_APIKEY',
  'AUTH_ERR_APIKEY_NOT_FOUND',
  'AUTH_ERR_NO_ACCESS',
  'ERR_BAD_REQUEST',
  'ERR_TOO_MANY_REQUESTS',
  'ERR_EXCEPTION',
  'ERR_MISSION_FAILED',
]

/** What every operation with a body or an `Idempotency-Key` can answer with. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_IDEMPOTENCY_KEY_REUSED',
]

/** The response schemas of the given codes, one a status. */
export function failures(codes: readonly ErrorCode[]): Record<string, TSchema> {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status)
  return Object.fromEntries([...byStatus].map(([status, same]) => [status, ErrorBody(same)]))
}

const ErrorBody = (codes: ErrorCode[]) =>
  Type.Object(
    {
      error: Type.Object(
        {
          code: Type.String({ enum: codes }),
          message: Type.String(),
          devMessage: Type.Optional(Type.String()),
          details: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false, description: codes.join(', ') },
  )
