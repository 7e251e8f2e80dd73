import type { Static, TSchema } from 'typebox'
import type { Config } from './config.ts'
import { type Bus, openBus } from './platform/bus/bus.ts'
import { type Cache, openCache } from './platform/cache/cache.ts'
import { type Cell, Directory } from './platform/cells/directory.ts'
import { Revocations } from './platform/cells/revocations.ts'
import type { FileDriver } from './platform/files/driver.ts'
import { openDriver } from './platform/files/open.ts'
import * as jobs from './platform/jobs/definition.ts'
import { watchBusyness } from './platform/lanes/busyness.ts'
import { Lanes } from './platform/lanes/lanes.ts'
import { PageStarts } from './platform/lists/page-starts.ts'
import { type Logger, openLog } from './platform/log/log.ts'
import { Mail } from './platform/mail/mail.ts'
import { Media } from './platform/media/media.ts'
import { type Metrics, openMetrics } from './platform/metrics/metrics.ts'
import { Outbound } from './platform/net/outbound.ts'
import { Targets } from './platform/net/targets.ts'
import { Push } from './platform/push/push.ts'
import { openSecrets, type Secrets } from './platform/secrets/secrets.ts'
import { openTracing, type Tracing } from './platform/tracing/tracing.ts'

/** The dependencies of actions and jobs. Built once and passed as an argument. */
export interface Deps {
  config: Config
  log: Logger
  metrics: Metrics
  tracing: Tracing
  secrets: Secrets
  bus: Bus
  cache: Cache
  directory: Directory
  revocations: Revocations
  /** Admits requests to the cells. */
  lanes: Lanes
  starts: PageStarts
  /** Decides which addresses webhooks and notifications may call. */
  targets: Targets
  /** Calls what apps configure, but for webhooks. */
  outbound: Outbound
  /** The same for providers of models, which may be private if the operator says so. */
  models: {
    targets: Targets
    outbound: Outbound
    /** Models that refuse the usual name of the limit of an answer, by URL and name. */
    renamed: Set<string>
  }
  /** Where the bytes of files are. Absent if this installation stores none. */
  files: FileDriver | undefined
  /** Sends notifications to devices. */
  push: Push
  /** Sends emails. */
  mail: Mail
  /** Forwards audio and video of calls. */
  media: Media
}

/** What jobs of the queue run with. */
export interface JobDeps {
  deps: Deps
  cell: Cell
}

/** Defines a job of the queue (docs/jobs.md). `workers/queue.ts` lists them. */
export const defineJob = <Input extends TSchema, Checkpoint extends TSchema>(
  definition: jobs.Definition<Input, Checkpoint, JobDeps>,
): jobs.Job<Static<Input>, JobDeps> => jobs.defineJob(definition)

/** Opens everything without waiting for an engine. Only the directory has to be awaited, with `deps.directory.start()`. */
export async function openDeps(config: Config): Promise<Deps> {
  const log = openLog(config.log.level)
  const metrics = openMetrics()
  const tracing = await openTracing(config.log.tracesUrl)
  const secrets = openSecrets(config.service.secret, {
    accepted: config.service.acceptedSecrets,
    hashing: config.service.hashSecret || config.service.secret,
  })
  const { natsUrl, redisUrl, directoryUrl, caFile, prefix } = config.engines
  const { poolSize, readPoolSize, timeoutMs } = config.engines
  const bus = openBus({ url: natsUrl, caFile, prefix, secrets, log })
  const cache = openCache({ url: redisUrl, caFile, prefix, log })
  const { regions } = config.service
  const directory = new Directory({
    url: directoryUrl,
    regions,
    poolSize,
    readPoolSize,
    tlsRules: config.engines,
    drawnKey: 'messages_pkey',
    timeoutMs,
    bus,
    log,
    metrics,
    tracing,
    secrets,
  })
  const revocations = new Revocations(directory, log)
  const targets = new Targets(config.webhooks)
  const outbound = new Outbound(targets)
  const models = openModels(config)
  const isBusy = watchBusyness()
  const lanes = new Lanes({ bus, metrics, poolSize, readPoolSize, patienceMs: timeoutMs, isBusy })
  const origin = config.files.origin || config.service.publicUrl
  const files = await openDriver({ ...config.files, origin }, secrets)
  const push = new Push({ addresses: config.push, targets, metrics })
  const mail = new Mail({ sendgridUrl: config.mail.sendgridUrl, targets, outbound, metrics })
  const media = new Media(config.media, directory, log)
  const shared = { directory, revocations, lanes, starts: new PageStarts(cache), targets, files }
  return {
    config,
    log,
    metrics,
    tracing,
    secrets,
    bus,
    cache,
    outbound,
    models,
    push,
    mail,
    media,
    ...shared,
  }
}

/** What we call of a model server. It may have other operations, which change its models. */
const MODEL_OPERATIONS = ['chat/completions', 'messages', 'embeddings', 'moderations']

function openModels({ models, webhooks }: Config): Deps['models'] {
  const exceptions = models.privateUrls.flatMap((url) => [
    url,
    ...MODEL_OPERATIONS.map((operation) => `${url.replace(/\/+$/, '')}/${operation}`),
  ])
  const targets = new Targets({ ...webhooks, exceptions })
  return { targets, outbound: new Outbound(targets), renamed: new Set() }
}

export async function closeDeps(deps: Deps): Promise<void> {
  const {
    revocations,
    lanes,
    outbound,
    models,
    push,
    mail,
    media,
    directory,
    bus,
    cache,
    metrics,
    tracing,
  } = deps
  revocations.close()
  outbound.close()
  models.outbound.close()
  lanes.close()
  push.close()
  mail.close()
  media.stop()
  await directory.close()
  await bus.close()
  await cache.close()
  await metrics.close()
  await tracing.close()
}
