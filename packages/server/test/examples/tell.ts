/** All stories, in their order. */
import type { Examples } from '../../src/reference/examples.ts'
import type { Service } from '../../src/serve.ts'
import type { ServerOptions } from '../kit.ts'
import { createAccountAndApp, manageApp, secureAccount } from './account.ts'
import { buildAgents } from './agents.ts'
import { makeCalls } from './calls.ts'
import { shareFiles } from './files.ts'
import { createGroups, manageGroups } from './groups.ts'
import { exportFiles, importFiles, importHistory } from './imports.ts'
import { followEvents, manageJobs, manageWebhooks, readUsage } from './integrations.ts'
import { manageConversations, talk } from './messages.ts'
import { manageModeration, moderate, review, sanction } from './moderation.ts'
import { manageNotifications, manageProviders, manageSuppressed } from './notifications.ts'
import { createPeople, managePeople } from './people.ts'
import { openStory } from './story.ts'

/** What the stories need. No other app may use the server before them: ids would differ. */
export const STORY_SERVER: ServerOptions = {
  roles: ['api', 'worker'],
  env: {
    LOQUAT_PUBLIC_URL: 'https://example.com',
    LOQUAT_SIGN_UP: 'open',
    LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
    LOQUAT_CRAWL_PAUSE_MS: '0',
  },
}

/** The examples of all operations. */
export async function tellStories({ deps, apiPort }: Service): Promise<Examples> {
  const story = await openStory(apiPort ?? 0)
  const appId = await createAccountAndApp(story)
  const app = await deps.directory.find(appId)
  if (!app?.cell) throw new Error('this server does not serve the new app')
  const served = { ...app, cell: app.cell }
  await createPeople(story)
  await createGroups(story)
  await talk(story)
  await moderate(story, served)
  await sanction(story)
  await review(story, served)
  await manageConversations(story)
  await makeCalls(story, apiPort ?? 0)
  await shareFiles(story, apiPort ?? 0)
  await importHistory(story)
  await importFiles(story)
  await exportFiles(story)
  await managePeople(story)
  await manageGroups(story)
  await manageModeration(story)
  await buildAgents(story)
  await manageNotifications(story)
  await manageProviders(story)
  await manageSuppressed(story)
  await followEvents(story, served)
  await manageWebhooks(story, served)
  await readUsage(story, served)
  await manageJobs(story, served)
  await manageApp(story, appId)
  await secureAccount(story)
  return story.examples
}
