/** History of another service. */
import { until } from '../until.ts'
import type { Story } from './story.ts'

export async function importHistory(story: Story): Promise<void> {
  await story.show('importUsers', {
    body: {
      users: {
        noor: { uid: 'noor', name: 'Noor', createdAt: 1_650_000_000, tags: ['staff'] },
        omar: { uid: 'omar', name: 'Omar', createdAt: 1_650_000_000, role: 'pilot' },
      },
    },
  })
  await story.show('importGroups', {
    body: {
      groups: {
        archive: {
          ...{ guid: 'archive', name: 'Archive', type: 'private', owner: 'noor' },
          createdAt: 1_650_000_100,
        },
      },
    },
  })
  await story.show('importMembers', {
    body: {
      members: {
        archive_member_amira: {
          ...{ memberId: 'archive_member_amira', guid: 'archive', uid: 'amira' },
          ...{ scope: 'participant', joinedAt: 1_650_000_200 },
        },
      },
    },
  })
  await story.show('importMessages', {
    body: {
      messages: {
        'old-1': {
          ...{ muid: 'old-1', sender: 'noor', receiverType: 'user', receiver: 'amira' },
          ...{ data: { text: 'Welcome!' }, sentAt: 1_650_000_300, readAt: 1_650_000_360 },
        },
      },
    },
  })
}

const LINES = [
  { kind: 'user', uid: 'pia', name: 'Pia', createdAt: 1_650_000_000 },
  {
    ...{
      kind: 'message',
      muid: 'old-2',
      sender: 'pia',
      receiverType: 'group',
      receiver: 'archive',
    },
    ...{ sentAt: 1_650_000_400, data: { text: 'The old files are here now.' } },
  },
  { kind: 'user', uid: 'nameless' },
]

/** The same from a file, in the background. */
export async function importFiles(story: Story): Promise<void> {
  const { id: importId } = await story.show('createImport', { body: { perConversation: true } })
  const ids = { importId }
  const over = (state: string) =>
    until(
      `the import is ${state}`,
      async () => (await story.run('getImport', { ids })).state === state,
    )
  const lines = LINES.map((line) => `${JSON.stringify(line)}\n`).join('')
  await story.show('uploadImportPart', { ids: { ...ids, part: '1' }, body: { lines } })
  await story.show('startImport', { title: 'Only check the lines', ids, body: { dryRun: true } })
  await over('checked')
  await story.show('listImportProblems', { ids, query: { limit: 100 } })
  await story.show('startImport', { ids, body: {} })
  await over('done')
  await story.show('getImport', { ids })
  await story.show('listImportConversations', { ids, query: { limit: 100 } })
  await story.show('listImports', { query: { limit: 10 } })
  await story.show('deleteImport', { ids })
  await stopImport(story)
}

/** The data of the app, as files. */
export async function exportFiles(story: Story): Promise<void> {
  const { id: exportId } = await story.show('createExport', {
    title: 'Export one user',
    body: { uid: 'pia', to: 1_640_000_000, store: true },
  })
  const ids = { exportId }
  await until(
    'the export is done',
    async () => (await story.run('getExport', { ids })).state === 'done',
  )
  await story.show('getExport', { ids })
  await story.show('getExportPart', { ids: { ...ids, part: '1' } })
  await story.show('listExportLinks', { ids, query: { limit: 10 } })
  await story.show('listExports', { query: { limit: 10 } })
  await story.show('cancelExport', { ids })
  await story.show('deleteExport', { ids })
}

async function stopImport(story: Story): Promise<void> {
  const later = async () => {
    const { id: importId } = await story.run('createImport', { body: {} })
    const ids = { importId }
    await story.run('startImport', { ids, body: { delaySeconds: 3_600 } })
    return ids
  }
  const paused = await later()
  await story.show('pauseImport', { ids: paused })
  await story.show('resumeImport', { ids: paused })
  await story.show('cancelImport', { ids: await later() })
}
