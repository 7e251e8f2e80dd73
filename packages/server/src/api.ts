import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { restrictionRoutes } from './areas/access/restrictions.routes.ts'
import { permissionRoutes } from './areas/access/routes.ts'
import { agentBlockRoutes } from './areas/agents/blocks.routes.ts'
import { agentBudgetRoutes } from './areas/agents/budgets.routes.ts'
import { agentFigureRoutes } from './areas/agents/figures.routes.ts'
import { agentHandoverRoutes } from './areas/agents/handovers.routes.ts'
import { crawlRoutes } from './areas/agents/knowledge/crawl/routes.ts'
import { knowledgeRoutes } from './areas/agents/knowledge/routes.ts'
import { agentRatingRoutes } from './areas/agents/ratings.routes.ts'
import { agentReplayRoutes } from './areas/agents/replays.routes.ts'
import { agentRevisionRoutes } from './areas/agents/revisions.routes.ts'
import { agentRoutes } from './areas/agents/routes.ts'
import { agentRunRoutes } from './areas/agents/runs.routes.ts'
import { apiKeyRoutes } from './areas/apikeys/routes.ts'
import { collaboratorRoutes } from './areas/apps/collaborators.routes.ts'
import { appRoutes } from './areas/apps/routes.ts'
import { settingRoutes } from './areas/apps/settings.routes.ts'
import { usageRoutes } from './areas/apps/usage.routes.ts'
import { auditRoutes } from './areas/audit/routes.ts'
import { botRoutes } from './areas/bots/routes.ts'
import { callMediaRoutes } from './areas/calls/media.routes.ts'
import { callRoutes } from './areas/calls/routes.ts'
import { deprecatedConversationRoutes } from './areas/conversations/deprecated.routes.ts'
import { pinRoutes } from './areas/conversations/pins.routes.ts'
import { conversationRoutes } from './areas/conversations/routes.ts'
import { erasureRoutes } from './areas/erasures/routes.ts'
import { eventRoutes } from './areas/events/routes.ts'
import { addPictures } from './areas/files/pictures.routes.ts'
import { fileRoutes } from './areas/files/routes.ts'
import { memberRoutes } from './areas/groups/members.routes.ts'
import { groupRoutes } from './areas/groups/routes.ts'
import { historyRoutes } from './areas/history/routes.ts'
import { exportRoutes } from './areas/imports/exports/routes.ts'
import { importJobRoutes } from './areas/imports/jobs.routes.ts'
import { importRoutes } from './areas/imports/routes.ts'
import { jobRoutes } from './areas/jobs/routes.ts'
import { messageRoutes } from './areas/messages/routes.ts'
import { modelRoutes } from './areas/models/routes.ts'
import { checkedRoutes } from './areas/moderation/checked.routes.ts'
import { checkRoutes } from './areas/moderation/checks.routes.ts'
import { flagRoutes } from './areas/moderation/flags.routes.ts'
import { keywordRoutes } from './areas/moderation/keywords.routes.ts'
import { previewRoutes } from './areas/moderation/previews.routes.ts'
import { queueRoutes } from './areas/moderation/queue.routes.ts'
import { reasonRoutes } from './areas/moderation/reasons.routes.ts'
import { reviewRoutes } from './areas/moderation/reviews.routes.ts'
import { ruleRoutes } from './areas/moderation/rules.routes.ts'
import { sanctionRoutes } from './areas/moderation/sanctions.routes.ts'
import { subjectRoutes } from './areas/moderation/subjects.routes.ts'
import { contactRoutes } from './areas/notifications/contact.routes.ts'
import { explainRoutes } from './areas/notifications/explain.routes.ts'
import { notificationLogRoutes } from './areas/notifications/logs.routes.ts'
import { addInbound } from './areas/notifications/mail/inbound.routes.ts'
import { addMailLinks } from './areas/notifications/mail/public.routes.ts'
import { suppressedRoutes } from './areas/notifications/mail/suppressed.routes.ts'
import { mailTestRoutes } from './areas/notifications/mail/tests.routes.ts'
import { notificationPreferenceRoutes } from './areas/notifications/preferences.routes.ts'
import { providerRoutes } from './areas/notifications/providers.routes.ts'
import { notificationSettingsRoutes } from './areas/notifications/settings.routes.ts'
import { pushTokenRoutes } from './areas/notifications/tokens.routes.ts'
import { operatorKeyRoutes } from './areas/operators/keys.routes.ts'
import { operatorRoutes } from './areas/operators/routes.ts'
import { sessionRoutes } from './areas/operators/sessions.routes.ts'
import { totpRoutes } from './areas/operators/totp.routes.ts'
import { pinnedMessageRoutes } from './areas/pins/routes.ts'
import { reactionRoutes } from './areas/reactions/routes.ts'
import { relationRoutes } from './areas/relations/routes.ts'
import { roleRoutes } from './areas/roles/routes.ts'
import { savedMessageRoutes } from './areas/saves/routes.ts'
import { addUsage } from './areas/stats/plugin.ts'
import { statsRoutes } from './areas/stats/routes.ts'
import { storageRoutes } from './areas/storage/routes.ts'
import { threadRoutes } from './areas/threads/routes.ts'
import { userRoutes } from './areas/users/routes.ts'
import { authTokenRoutes } from './areas/users/tokens.routes.ts'
import { deliveryRoutes } from './areas/webhooks/deliveries.routes.ts'
import { webhookRoutes } from './areas/webhooks/routes.ts'
import { addConsole } from './console.ts'
import type { Deps } from './deps.ts'
import { documents } from './documents.ts'
import { addPreflight } from './gate/cors.ts'
import { Credentials } from './gate/credentials.ts'
import { addManagement, describeShared } from './gate/manage.ts'
import { MANAGE, routedUrl } from './gate/managed.ts'
import { addAccess } from './gate/plugin.ts'
import { FolderDriver } from './platform/files/folder.ts'
import { addFolderRoutes } from './platform/files/folder-routes.ts'
import { addOpenApi } from './platform/http/openapi.ts'
import { openHttp } from './platform/http/server.ts'
import { addReference } from './reference/routes.ts'

export { listenForMail } from './areas/notifications/mail/listener.ts'

/** All areas of the REST API. */
const areas: ((deps: Deps) => FastifyPluginAsync)[] = [
  apiKeyRoutes,
  roleRoutes,
  permissionRoutes,
  restrictionRoutes,
  userRoutes,
  erasureRoutes,
  authTokenRoutes,
  botRoutes,
  relationRoutes,
  groupRoutes,
  memberRoutes,
  messageRoutes,
  reviewRoutes,
  ruleRoutes,
  keywordRoutes,
  reasonRoutes,
  checkedRoutes,
  previewRoutes,
  flagRoutes,
  sanctionRoutes,
  queueRoutes,
  subjectRoutes,
  checkRoutes,
  modelRoutes,
  agentRoutes,
  knowledgeRoutes,
  crawlRoutes,
  agentRevisionRoutes,
  agentRunRoutes,
  agentReplayRoutes,
  agentRatingRoutes,
  agentHandoverRoutes,
  agentFigureRoutes,
  agentBudgetRoutes,
  agentBlockRoutes,
  threadRoutes,
  reactionRoutes,
  pinnedMessageRoutes,
  savedMessageRoutes,
  historyRoutes,
  callRoutes,
  callMediaRoutes,
  fileRoutes,
  importRoutes,
  importJobRoutes,
  exportRoutes,
  conversationRoutes,
  pinRoutes,
  deprecatedConversationRoutes,
  eventRoutes,
  webhookRoutes,
  deliveryRoutes,
  notificationSettingsRoutes,
  notificationPreferenceRoutes,
  contactRoutes,
  pushTokenRoutes,
  providerRoutes,
  suppressedRoutes,
  mailTestRoutes,
  notificationLogRoutes,
  explainRoutes,
  statsRoutes,
]

/** All areas of the management API. */
const manageAreas: typeof areas = [
  operatorRoutes,
  sessionRoutes,
  totpRoutes,
  operatorKeyRoutes,
  appRoutes,
  collaboratorRoutes,
  settingRoutes,
  usageRoutes,
  storageRoutes,
  auditRoutes,
  jobRoutes,
]

export interface ApiOptions {
  draining?: () => boolean
  /** Additional routes, for tests. */
  more?: (typeof areas)[number][]
  /** The folder of the console's files, for tests. */
  console?: string | undefined
}

/** Builds the HTTP server with both APIs, their reference and the console. */
export async function buildApi(
  deps: Deps,
  { draining = () => false, more = [], console }: ApiOptions = {},
): Promise<FastifyInstance> {
  const { log, metrics, tracing, config } = deps
  const { trustedProxies } = config.http
  const serviceHost = new URL(config.service.publicUrl).hostname
  const app = openHttp({
    log,
    timings: metrics.requests,
    tracing,
    draining,
    trustedProxies,
    routedUrl: (request) => routedUrl(request, serviceHost),
    versions: ['v3', MANAGE.slice(1)],
  })
  addHealth(app, draining)
  for (const document of documents) {
    const also = document.prefix === MANAGE ? { also: describeShared } : {}
    await addOpenApi(app, { ...document, ...also })
  }
  const credentials = new Credentials(deps)
  const v3: FastifyPluginAsync = async (scope) => {
    addAccess(scope, deps, credentials)
    addUsage(scope, deps)
    for (const area of [...areas, ...more]) await scope.register(area(deps))
  }
  await app.register(v3, { prefix: '/v3' })
  const preflight: FastifyPluginAsync = async (scope) => addPreflight(scope, deps, credentials)
  await app.register(preflight, { prefix: '/v3' })
  const mail: FastifyPluginAsync = async (scope) => addMailLinks(scope, deps, credentials)
  await app.register(mail)
  const inbound: FastifyPluginAsync = async (scope) => addInbound(scope, deps, credentials)
  await app.register(inbound)
  const { files } = deps
  if (files) {
    const pictures: FastifyPluginAsync = async (scope) =>
      addPictures(scope, deps, files, credentials)
    await app.register(pictures)
  }
  if (files instanceof FolderDriver) {
    const folder: FastifyPluginAsync = async (scope) => addFolderRoutes(scope, files)
    await app.register(folder)
  }
  const manage: FastifyPluginAsync = async (scope) => {
    addManagement(scope, deps)
    for (const area of manageAreas) await scope.register(area(deps))
  }
  await app.register(manage, { prefix: MANAGE })
  await addConsole(app, { manage: MANAGE, files: originsOf(config), built: console })
  addReference(app, deps)
  return app
}

/** Where browsers send files to and read them from. */
function originsOf({ files, service }: Deps['config']): string {
  const urls = [files.origin || service.publicUrl, ...(files.bucketUrl ? [files.bucketUrl] : [])]
  return urls.map((url) => new URL(url).origin).join(' ')
}

function addHealth(app: FastifyInstance, draining: () => boolean): void {
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) =>
    draining() ? reply.code(503).send({ status: 'draining' }) : { status: 'ready' },
  )
}
