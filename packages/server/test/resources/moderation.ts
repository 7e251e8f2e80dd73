import { insertBlocked } from '../held.ts'
import {
  HOOK_URL,
  newId,
  type Resources,
  type Samples,
  sendText,
  unusedMessageId,
  user,
} from './shared.ts'

export const resources: Resources = {
  'flagged_messages.id': {
    async make(app) {
      const reporter = await user.make(app, {})
      const id = await sendText(app, await user.make(app, {}), 'user', reporter)
      await app
        .as(reporter)
        .call('POST', `/v3/messages/${id}/flagged`, { body: { reasonId: 'spam' } })
      return id
    },
    unknown: unusedMessageId,
  },
  'checked_messages.id': {
    async make(app) {
      const [sender, receiver] = [await user.make(app, {}), await user.make(app, {})]
      const body = { sender, receiver, receiverType: 'user', data: { text: 'Hello' } }
      return (await app.call('POST', '/v3/moderation/messages', { body })).body.data.id
    },
    unknown: unusedMessageId,
  },
  'blocked_messages.messageId': {
    make: async (app) =>
      insertBlocked(app, await user.make(app, {}), await user.make(app, {}), 'the ending'),
    unknown: unusedMessageId,
  },
  ruleId: {
    async make(app) {
      const body = { id: newId(), name: 'Made', conditions: [{ category: 'word', value: 'spam' }] }
      return (await app.call('POST', '/v3/moderation/rules', { body })).body.data.id
    },
    unknown: newId,
  },
  previewId: {
    async make(app) {
      // Only one runs at a time.
      const path = '/v3/moderation/previews'
      for (const { id } of (await app.call('GET', path)).body.data) {
        await app.call('DELETE', `${path}/${id}`)
      }
      const body = { rule: { conditions: [{ category: 'word', value: 'spam' }] } }
      return (await app.call('POST', '/v3/moderation/rules/preview', { body })).body.data.id
    },
    unknown: unusedMessageId,
  },
  keywordId: {
    async make(app) {
      const body = { id: newId(), name: 'Made', category: 'word', searchTerms: ['spam'] }
      return (await app.call('POST', '/v3/moderation/keywords', { body })).body.data.id
    },
    unknown: newId,
  },
  'flag_reasons.id': {
    async make(app) {
      const body = { id: newId(), name: 'Off topic' }
      return (await app.call('POST', '/v3/moderation/reasons', { body })).body.data.id
    },
    unknown: newId,
  },
  itemId: {
    async make(app) {
      const body = { receiver: await user.make(app, {}), receiverType: 'user', data: { text: 'x' } }
      const headers = { onbehalfof: await user.make(app, {}) }
      const { id } = (await app.call('POST', '/v3/messages', { body, headers })).body.data
      const flag = { body: { reasonId: 'spam' }, headers: { onbehalfof: body.receiver } }
      await app.call('POST', `/v3/messages/${id}/flagged`, flag)
      return id
    },
    unknown: unusedMessageId,
  },
  sanctionId: {
    async make(app) {
      const body = { uid: await user.make(app, {}), kind: 'mute', reason: 'Made' }
      return (await app.call('POST', '/v3/moderation/sanctions', { body })).body.data.id
    },
    unknown: () => '4',
  },
}

export const samples: Samples = {
  listBlockedMessages: () => ({ query: { limit: '10', affix: 'prepend', ruleId: 'no-spoilers' } }),
  listBlockedMessagesReviewed: () => ({ query: { limit: '10', sender: newId() } }),
  createRulePreview: () => ({
    body: {
      rule: { name: 'Ads', conditions: [{ category: 'word', value: ['casino'] }] },
      ...{ from: 1_700_000_000, to: 1_900_000_000, limit: 1_000 },
    },
  }),
  listRulePreviews: () => ({ query: { limit: '10' } }),
  createCheckedMessage: async (app) => ({
    body: {
      sender: await user.make(app, {}),
      receiver: await user.make(app, {}),
      receiverType: 'user',
      category: 'message',
      type: 'text',
      data: { text: 'Hello', metadata: { k: 1 } },
      muid: newId(),
    },
  }),
  updateCheckedMessage: () => ({ body: { data: { text: 'Hello again', metadata: null } } }),
  listCheckedMessages: () => ({
    query: { limit: '10', affix: 'prepend', sentAt: '1900000000', moderationStatus: 'pending' },
  }),
  flagMessage: () => ({ body: { reasonId: 'spam', remark: 'Again' } }),
  listFlaggedMessages: () => ({ query: { limit: '10', affix: 'prepend' } }),
  reviewFlaggedMessage: () => ({ body: { status: 'approved' } }),
  reviewBlockedMessage: () => ({ body: { status: 'approved', reviewed: true } }),
  createRule: () => ({
    body: {
      id: newId(),
      name: 'Numbers',
      description: 'No long numbers',
      enabled: true,
      action: ['kickUser'],
      filters: [
        { type: 'sender', entity: 'user', operand: 'role', operator: 'not in', value: ['staff'] },
        { type: 'receiver', entity: 'group', operand: 'createdAt', operator: 'lessThan', value: 9 },
      ],
      conditions: [{ operand: 'text', operator: 'contains', category: 'pattern', value: '\\d{9}' }],
    },
  }),
  listRules: () => ({ query: { limit: '20' } }),
  updateRule: () => ({ body: { name: 'Renamed', enabled: true } }),
  listRuleRevisions: () => ({ query: { limit: '5' } }),
  testRules: () => ({
    body: { text: 'Cheap pills', rule: { conditions: [{ category: 'word', value: ['pills'] }] } },
  }),
  updateCheckSettings: () => ({
    body: {
      ...{ url: HOOK_URL, basicAuthEnabled: true, username: 'loquat', password: 'open sesame' },
      ...{ timeoutMs: 500, contextMessages: 3, onFailure: 'approved', deadlineSeconds: 30 },
    },
  }),
  // Without a URL, nothing outside is called.
  testCheck: async (app) => {
    await app.call('PUT', '/v3/moderation/checks', { body: { url: null } })
    return { body: { condition: { category: 'custom-api' }, text: 'Cheap pills' } }
  },
  createKeywordList: () => ({
    body: {
      id: newId(),
      name: 'Spoilers',
      description: 'Of films',
      category: 'word',
      searchTerms: 'ending,finale',
    },
  }),
  listKeywordLists: () => ({ query: { limit: '20' } }),
  updateKeywordList: () => ({ body: { name: 'More spoilers', file: 'ending\nfinale' } }),
  createFlagReason: () => ({
    body: { id: newId(), name: 'Off topic', description: 'Not for this room' },
  }),
  listFlagReasons: () => ({ query: { limit: '20' } }),
  updateFlagReason: () => ({ body: { name: 'Off the topic', description: 'Elsewhere' } }),
  flagUser: () => ({ body: { reasonId: 'spam', remark: 'Again' } }),
  flagGroup: () => ({ body: { reasonId: 'spam' } }),
  listReviewItems: () => ({ query: { limit: '20', kind: 'flagged' } }),
  listReviewItemFigures: () => ({ query: { from: '1700000000' } }),
  claimReviewItem: () => ({ body: { moderator: 'anna', seconds: 60 } }),
  decideReviewItem: () => ({
    body: {
      decision: 'approve',
      note: 'Harmless',
      actions: [{ does: 'mute', until: 4_000_000_000 }],
    },
  }),
  createSanction: async (app) => ({
    body: { uid: await user.make(app, {}), kind: 'mute', reason: 'Spam', until: 4_000_000_000 },
  }),
  listSanctions: () => ({ query: { limit: '20', kind: 'mute' } }),
}
