import { type Static, Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { Amount, amounts } from '../stats/schema.ts'
import { AppListQuery, ManagedApp } from './schema.ts'

const Day = (description: string) => Type.String({ description: `${description}, \`YYYY-MM-DD\`.` })

export const Usage = Type.Object(
  {
    from: Day('First day of the period (UTC)'),
    to: Day('Last day of the period (UTC)'),
    ...amounts,
    users: Amount('Number of users now, including deactivated ones.'),
    groups: Amount('Number of groups now.'),
  },
  { additionalProperties: false, 'x-component': 'Usage' },
)
export type Usage = Static<typeof Usage>

export const Tenant = Type.Object(
  {
    ...ManagedApp.properties,
    usage: Type.Optional(Usage),
  },
  {
    additionalProperties: false,
    description:
      '`usage` is absent for archived apps, and while the database of the app is unreachable.',
    'x-component': 'Tenant',
  },
)
export type Tenant = Static<typeof Tenant>

const Time = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999_999_999_999, description }))

export const TenantListQuery = Type.Object({
  ...AppListQuery.properties,
  perPage: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 25,
    description: 'Maximum number of records per page.',
  }),
  fromDate: Time(
    'Start of the period, in Unix seconds (10 digits) or milliseconds (13 digits). Default: the first day of this month (UTC).',
  ),
  toDate: Time(
    'End of the period, in Unix seconds or milliseconds, at most 366 days after the start. Default: now.',
  ),
})
export type TenantListQuery = Static<typeof TenantListQuery>

export const NewUsageReport = Nullable(
  Type.Object({
    usePreviousBillingCycle: Type.Optional(
      Type.Boolean({ description: 'Whether to report the previous month. Default: this month.' }),
    ),
  }),
)
export type NewUsageReport = Static<typeof NewUsageReport>

export const UsageReport = Type.Object(
  { success: Type.Literal(true), message: Type.String(), usage: Usage },
  { additionalProperties: false },
)
export type UsageReport = Static<typeof UsageReport>
