import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { AppParams } from '../apps/schema.ts'
import { cancelJob, getJob, listJobs, retryJob } from './actions.ts'
import { JobAnswer, JobList, JobParams, JobQuery } from './schema.ts'

const tags = ['jobs']
const access = { manage: 'settings' } as const
const appErrors = ['AUTH_ERR_INVALID_APPID'] as const
const jobErrors = [...appErrors, 'ERR_JOB_NOT_FOUND'] as const

export const jobRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/apps/:appId/jobs',
      {
        config: { ...access, errors: appErrors },
        schema: {
          operationId: 'listJobs',
          tags,
          summary: "List an app's background jobs, newest first",
          params: AppParams,
          querystring: JobQuery,
          response: { 200: JobList },
        },
      },
      async (request) => listJobs(deps, request, request.query),
    )

    app.get(
      '/apps/:appId/jobs/:jobId',
      {
        config: { ...access, errors: jobErrors },
        schema: {
          operationId: 'getJob',
          tags,
          summary: 'Get a background job with its progress',
          params: JobParams,
          response: { 200: JobAnswer },
        },
      },
      async (request) => ({ data: await getJob(deps, request, request.params.jobId) }),
    )

    app.post(
      '/apps/:appId/jobs/:jobId/cancel',
      {
        config: { ...access, errors: [...jobErrors, 'ERR_JOB_OVER'] },
        schema: {
          operationId: 'cancelJob',
          tags,
          summary: 'Cancel a background job',
          params: JobParams,
          response: { 200: JobAnswer },
        },
      },
      async (request) => ({ data: await cancelJob(deps, request, request.params.jobId) }),
    )

    app.post(
      '/apps/:appId/jobs/:jobId/retry',
      {
        config: { ...access, errors: [...jobErrors, 'ERR_JOB_NOT_FAILED'] },
        schema: {
          operationId: 'retryJob',
          tags,
          summary: 'Retry a dead or cancelled background job',
          params: JobParams,
          response: { 200: JobAnswer },
        },
      },
      async (request) => ({ data: await retryJob(deps, request, request.params.jobId) }),
    )
  }
