import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { dailyStatsOf, fileStatsOf, messageStatsOf, statsOf } from './record.ts'
import {
  DailyStats,
  FileStats,
  MessageStats,
  MessageStatsQuery,
  Stats,
  StatsQuery,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['stats']

export const statsRoutes = (): FastifyPluginAsyncTypebox => async (app) => {
  app.get(
    '/stats',
    {
      config: access,
      schema: {
        operationId: 'getStats',
        tags,
        summary: "Get the app's usage in a period",
        querystring: StatsQuery,
        response: { 200: Data(Stats) },
      },
    },
    async ({ actor, query }) => ({ data: await statsOf(actor.app, query) }),
  )

  app.get(
    '/stats/days',
    {
      config: access,
      schema: {
        operationId: 'getDailyStats',
        tags,
        summary: "Get the app's usage by day",
        querystring: StatsQuery,
        response: { 200: Data(DailyStats) },
      },
    },
    async ({ actor, query }) => ({ data: await dailyStatsOf(actor.app, query) }),
  )

  app.get(
    '/stats/files',
    {
      config: access,
      schema: {
        operationId: 'getFileStats',
        tags,
        summary: "Get the space that the app's files take",
        response: { 200: Data(FileStats) },
      },
    },
    async ({ actor }) => ({ data: await fileStatsOf(actor) }),
  )

  app.get(
    '/stats/messages',
    {
      config: access,
      schema: {
        operationId: 'getMessageStats',
        tags,
        summary: 'Get messages and receipts in steps of five minutes',
        querystring: MessageStatsQuery,
        response: { 200: Data(MessageStats) },
      },
    },
    async ({ actor, query }) => ({ data: await messageStatsOf(actor.app, query) }),
  )
}
