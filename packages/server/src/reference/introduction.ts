import { errors } from '@loquat/protocol'
import { defaultOf, type SettingName } from '../core/settings.ts'
import { BODY_LIMIT } from '../platform/http/server.ts'

const limit = (name: SettingName) => defaultOf(name).toLocaleString('en')

/** `429, 500 and 503` */
const retried = [
  ...new Set(Object.values(errors).flatMap(({ status, retry }) => (retry ? status : []))),
]
  .sort((one, other) => one - other)
  .join(', ')
  .replace(/, (\d+)$/, ' and $1')

/** What a reader must know before the first request, in Markdown. */
export const introduction = `
The REST API of the chat platform, for your servers and your users' devices. Bodies and answers are JSON. Times are Unix
seconds. Unknown fields of a body are ignored.

## Base address

Every app has its own host name. It consists of the app's id, the region that stores its data and the host of the
service:

\`\`\`
https://{appId}.api-{region}.{host}/v3
\`\`\`

You can also call the host of the service itself and name the app in the header \`appId\`. This is the easy way during
development, where such host names don't resolve.

## Authentication

| header | who calls |
| --- | --- |
| \`apikey\` | Your server, as the app. A key with the scope \`fullAccess\` can call every operation, a key with \`authOnly\` only those on auth tokens. Never put an API key into an app or a web page. |
| \`apikey\` and \`onBehalfOf\` | Your server, on behalf of the user with this uid. |
| \`authToken\` | A user's device. Each operation says whether users may call it. Your server creates the token with \`createAuthToken\`. |

A resource that a user may not see looks as if it didn't exist.

## Pages of a list

Most lists return pages: \`perPage\` is the size of a page (100 by default, at most 1,000) and \`page\` its number. The
answer says how many there are:

\`\`\`json
{
  "data": [],
  "meta": {
    "pagination": { "total": 240, "count": 100, "per_page": 100, "current_page": 1, "total_pages": 3 },
    "cursor": { "next": "eyJhZnRlciI6WyJhbWlyYSJdfQ" }
  }
}
\`\`\`

If there is a \`meta.cursor.next\`, pass it as \`cursor\` to get the next page: no record is missed or returned twice, even
if records are added meanwhile. Totals are exact up to 10,000; beyond that, \`total_capped\` is true.

Lists of messages and reactions start at a record instead: pass its \`id\` with \`affix=append\` for those after it, or
\`affix=prepend\` for those before it.

Lists in a query are separated by commas: \`tags=vip,staff\`.

## Errors

A request that fails has a status of 400 or more and this body:

\`\`\`json
{
  "error": {
    "code": "ERR_UID_NOT_FOUND",
    "message": "There is no user with uid \\"zoe\\"."
  }
}
\`\`\`

Rely on \`code\`; texts may change. \`devMessage\` adds a hint for developers, and \`details\` lists what is wrong with each
field. An operation on several ids returns 200 and a result for each of them.

Repeat a request after the statuses ${retried}, with a growing delay. Every answer has the header
\`x-request-id\`; mention it if you ask for help.

## Idempotency

Send the header \`Idempotency-Key\` with a random value of your choice to make a write safe to repeat: within 24 hours, a
request with the same key returns the first answer and changes nothing. The same key with another body is refused
with \`ERR_IDEMPOTENCY_KEY_REUSED\`. Messages also have a \`muid\`, your own id: sending it again returns the first message.

## Limits

| what | limit |
| --- | --- |
| requests to log in, to create and delete users, to create, join and leave groups | ${limit('rate.core')} per minute and app |
| other requests | ${limit('rate.standard')} per minute and app |
| imports of up to 50 items | ${limit('rate.import')} per minute and app |
| requests of one user's devices | ${limit('rate.user')} per minute |
| body of a request | ${BODY_LIMIT / 1024} KB; more for messages, whose \`data\` may have 10 KB |
| members of a group | ${limit('limits.membersPerGroup')} |
| API keys of an app | 25 |

An app's operators can lower its limits; the operator of the service can raise them. The headers \`x-rate-limit\` and \`x-rate-limit-remaining\` say how much of the
current minute is left. Beyond the limit, requests get 429 and \`retry-after\`.

## Versions

The version is part of the path: \`/v3\`. Fields may be added to answers at any time. An operation that will be removed is
marked as deprecated a year before, names its replacement and announces the day in the headers \`deprecation\` and
\`sunset\`.
`.trim()

export const managementIntroduction = `
The management API, for operators and their scripts: accounts, apps, teams, settings and the audit log. Bodies and answers
are JSON. Times are Unix seconds.

## Base address

\`\`\`
https://manage.{host}
\`\`\`

On every other host of the service, the same operations are below \`/manage\`. To reach an app's data, put
\`/apps/{appId}\` before the path of any operation of the REST API: \`/apps/{appId}/v3/users\`.

## Authentication

| credential | who calls |
| --- | --- |
| the cookie of a session | A person. \`createSession\` sets it. Pages of other origins can't use it. |
| the headers \`key\` and \`secret\` | A script. \`createKey\` returns both. Operations on the account itself need a session. |

Your role in an app decides what you may do: \`owner\`, \`admin\`, \`moderator\` or \`developer\`.

## Pages of a list

\`perPage\` is the size of a page (100 by default, at most 1,000) and \`page\` its number; \`meta.pagination\` has the totals.
The audit log continues at \`meta.next\`, which you pass as \`before\`.

## Errors

A request that fails has a status of 400 or more and the body
\`{"error": {"code", "message", "devMessage", "details"}}\`. Rely on \`code\`; texts may change.

## Idempotency

Send the header \`Idempotency-Key\` with a random value of your choice to make a write safe to repeat: within 24 hours, a
request with the same key returns the first answer and changes nothing.

## Limits

An operator can send 1,200 requests per minute, unless the installation says otherwise. After several wrong passwords,
further attempts wait.
`.trim()
