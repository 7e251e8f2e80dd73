/**
 * What the tests over all operations need from each area: an id for every path parameter, and a
 * request that succeeds. Add those of a new area in a file of its own.
 */
import { type Operation, operations } from './conformity.ts'
import type { CallOptions, TestApp } from './kit.ts'
import * as agents from './resources/agents.ts'
import * as calls from './resources/calls.ts'
import * as chat from './resources/chat.ts'
import * as moderation from './resources/moderation.ts'
import * as notifications from './resources/notifications.ts'
import * as people from './resources/people.ts'
import type { Ids, Resource, Resources, Sample, Samples } from './resources/shared.ts'
import * as transfer from './resources/transfer.ts'
import * as webhooks from './resources/webhooks.ts'

export type { Ids, Resource, Sample }

const areas = [people, agents, moderation, transfer, webhooks, notifications, calls, chat]

export const resources: Resources = Object.assign({}, ...areas.map((area) => area.resources))
export const samples: Samples = Object.assign({}, ...areas.map((area) => area.samples))

/** A request that succeeds, in its parts. */
export interface ValidRequest extends Sample {
  operation: Operation
  ids: Ids
}

/** The parameters of an operation that name something of the app. */
export const idNames = ({ parameters }: Operation): string[] =>
  parameters
    .filter(({ in: place, name }) => place === 'path' || name === 'onBehalfOf')
    .map(({ name }) => name)

export function resourceOf({ operationId, tags }: Operation, name: string): Resource {
  const resource = resources[`${tags[0]}.${name}`] ?? resources[name]
  if (resource) return resource
  throw new Error(`test/resources has no "${name}", which ${operationId} names`)
}

/** Creates everything an operation needs to succeed in this app. */
export async function prepare(app: TestApp, operation: Operation): Promise<ValidRequest> {
  const ids: Ids = {}
  for (const name of idNames(operation)) {
    ids[name] = await resourceOf(operation, name).make(app, ids)
  }
  const sample = samples[operation.operationId]
  if (!sample && needsSample(operation)) {
    throw new Error(`test/resources has no sample of ${operation.operationId}`)
  }
  return { operation, ids, ...(await sample?.(app, ids)) }
}

const needsSample = ({ body, parameters }: Operation) =>
  body !== undefined || parameters.some(({ in: place, required }) => place === 'query' && required)

export function pathOf({ operation, ids }: ValidRequest): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? ''))
}

export function urlOf(request: ValidRequest): string {
  const query = new URLSearchParams(request.query).toString()
  return pathOf(request) + (query && `?${query}`)
}

export const headersOf = ({ ids: { onBehalfOf } }: ValidRequest): Record<string, string> =>
  onBehalfOf === undefined ? {} : { onbehalfof: onBehalfOf }

/** Sends a prepared request to an app, changed as `options` say. */
export function send(app: TestApp, request: ValidRequest, options: CallOptions = {}) {
  const { operation, body } = request
  const headers = { ...headersOf(request), ...options.headers }
  return app.call(operation.method, urlOf(request), {
    ...(body !== undefined && { body }),
    ...options,
    headers,
  })
}

/** Entries of the registries that no operation uses. */
export function staleEntries(): string[] {
  const names = operations.flatMap((operation) =>
    idNames(operation).flatMap((name) => [name, `${operation.tags[0]}.${name}`]),
  )
  const operationIds = operations.map(({ operationId }) => operationId)
  return [
    ...Object.keys(resources).filter((name) => !names.includes(name)),
    ...Object.keys(samples).filter((operationId) => !operationIds.includes(operationId)),
  ]
}
