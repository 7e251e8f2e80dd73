import { newId, type Resources, type Samples, unusedMessageId } from './shared.ts'

export const resources: Resources = {
  importId: {
    make: async (app) => (await app.call('POST', '/v3/imports', { body: {} })).body.data.id,
    unknown: unusedMessageId,
  },
  part: { make: async () => '1', unknown: () => '1', free: true },
  'exports.part': {
    // Without a worker, it has none.
    async make(app, { exportId }) {
      await app.cell.db.query({
        name: '',
        text: `insert into export_parts (app_no, export_id, part, content) values ($1, $2, 1, '') on conflict do nothing`,
        values: [app.no, exportId],
      })
      return '1'
    },
    unknown: () => '1',
    free: true,
  },
  exportId: {
    make: async (app) => (await app.call('POST', '/v3/exports', { body: {} })).body.data.id,
    unknown: unusedMessageId,
  },
}

export const samples: Samples = {
  importUsers: () => {
    const uid = newId()
    return { body: { users: { [uid]: { uid, name: 'Amira', createdAt: 1_700_000_000 } } } }
  },
  importGroups: () => {
    const guid = newId()
    return { body: { groups: { [guid]: { guid, name: 'Ward 3', type: 'public' } } } }
  },
  importMembers: () => {
    const [guid, uid] = [newId(), newId()]
    const memberId = `${guid}_member_${uid}`
    const groupDetails = { guid, name: 'Ward 3', type: 'public' }
    const member = { memberId, guid, uid, groupDetails, userDetails: { uid, name: 'Amira' } }
    return { body: { members: { [memberId]: member } } }
  },
  importMessages: () => {
    const [muid, sender, receiver] = [newId(), newId(), newId()]
    const message = {
      ...{ muid, sender, receiver, receiverType: 'user', data: { text: 'Hello' } },
      ...{ sentAt: 1_700_000_000, readAt: 1_700_000_060 },
      senderUserDetails: { uid: sender, name: 'Amira' },
      receiverUserDetails: { uid: receiver, name: 'Ben' },
    }
    return { body: { messages: { [muid]: message } } }
  },
  createExport: () => ({ body: { from: 1_700_000_000, to: 1_900_000_000 } }),
  listExportLinks: () => ({ query: { after: '0', limit: '10' } }),
  listExports: () => ({ query: { limit: '10' } }),
  createImport: () => ({ body: { perConversation: true } }),
  uploadImportPart: () => ({ body: { lines: '{"kind":"user","uid":"noor","name":"Noor"}\n' } }),
  startImport: () => ({ body: { dryRun: true } }),
  listImports: () => ({ query: { limit: '10' } }),
  listImportProblems: () => ({ query: { part: '1', line: '2', limit: '10' } }),
  listImportConversations: () => ({ query: { after: 'group_a', limit: '10' } }),
}
