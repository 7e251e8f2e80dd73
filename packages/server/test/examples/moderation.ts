import type { ServedApp } from '../../src/core/actor.ts'
import { insertBlocked } from '../held.ts'
import type { Story } from './story.ts'

/** A moderator looks at a message that a rule blocked, and lets it pass. */
export async function moderate(story: Story, app: ServedApp): Promise<void> {
  const messageId = await insertBlocked(app, 'ben', 'amira', 'I already know the ending.')
  await story.show('listBlockedMessages', { query: { limit: 10 } })
  await story.show('reviewBlockedMessage', {
    ids: { messageId },
    body: { status: 'approved', reviewed: true },
  })
  await story.show('listBlockedMessagesReviewed', { query: { limit: 10 } })
  await story.show('flagMessage', {
    ids: { id: messageId },
    as: 'amira',
    body: { reasonId: 'spam', remark: 'The third one today.' },
  })
  await story.show('listFlaggedMessages', { query: { limit: 10 } })
  await story.show('reviewFlaggedMessage', {
    ids: { id: messageId },
    body: { status: 'disapproved' },
  })
}

/** Moderators work through the queue. */
export async function review(story: Story, app: ServedApp): Promise<void> {
  const itemId = await insertBlocked(app, 'ben', 'amira', 'She knows the ending, too.')
  await story.show('flagUser', { ids: { uid: 'ben' }, as: 'amira', body: { reasonId: 'spam' } })
  await story.show('flagGroup', {
    ids: { guid: 'ward-3' },
    as: 'amira',
    body: { reasonId: 'spam' },
  })
  await story.show('listReviewItems', { query: { limit: 10 } })
  await story.show('getReviewItem', { ids: { itemId } })
  await story.show('claimReviewItem', {
    ids: { itemId },
    body: { moderator: 'nadia', seconds: 300 },
  })
  await story.show('decideReviewItem', {
    ids: { itemId },
    body: { decision: 'reject', note: 'The second one today.', moderator: 'nadia' },
  })
  const today = new Date().toISOString().slice(0, 10)
  await story.show('listReviewItemFigures', { masks: { [today]: '2026-03-02' } })
}

/** A moderator mutes a user in a group for a while. */
export async function sanction(story: Story): Promise<void> {
  const body = {
    uid: 'ben',
    kind: 'mute',
    guid: 'ward-3',
    until: 4_000_000_000,
    reason: 'Spoilers',
  }
  const { id: sanctionId } = (await story.show('createSanction', { body })) as { id: string }
  await story.show('sendMessage', {
    title: 'The sender is muted',
    as: 'ben',
    body: { receiver: 'ward-3', receiverType: 'group', data: { text: 'The ending is sad.' } },
    status: 403,
  })
  await story.show('listSanctions', { query: { uid: 'ben' } })
  await story.show('getSanction', { ids: { sanctionId } })
  await story.show('deleteSanction', { ids: { sanctionId } })
}

/** Rules of moderation, keyword lists and reasons for flags. */
export async function manageModeration(story: Story): Promise<void> {
  await story.show('createKeywordList', {
    body: {
      id: 'ward-slang',
      name: 'Ward slang',
      description: 'Words that patients should not read',
      category: 'word',
      searchTerms: ['frequent flyer', 'bed blocker'],
    },
  })
  await story.show('createKeywordList', {
    title: 'Create a list of patterns',
    body: {
      id: 'patient-numbers',
      name: 'Patient numbers',
      category: 'pattern',
      searchTerms: ['\\bP-[0-9]{6,8}\\b'],
    },
  })
  await story.show('createKeywordList', {
    title: 'A pattern is not valid',
    body: { id: 'broken', name: 'Broken', category: 'pattern', searchTerms: ['(unclosed'] },
    status: 400,
  })
  await story.show('listKeywordLists', { query: { limit: 20 } })
  await story.show('getKeywordList', { ids: { keywordId: 'ward-slang' } })
  await story.show('updateKeywordList', {
    ids: { keywordId: 'ward-slang' },
    body: { searchTerms: 'frequent flyer,bed blocker,"code brown, again"' },
  })
  await manageRules(story)
  await story.show('deleteKeywordList', { ids: { keywordId: 'ward-slang' } })
  await manageChecks(story)
  await manageReasons(story)
}

/** Messages that another system delivers. A rule is enabled. */
async function checkMessages(story: Story): Promise<void> {
  const { id } = await story.show('createCheckedMessage', {
    body: {
      sender: 'ben',
      receiver: 'visitors',
      receiverType: 'group',
      muid: 'desk-4471',
      data: { text: 'Your diagnosis is ready' },
      receiverGroupDetails: { guid: 'visitors', name: 'Visitors', type: 'public' },
    },
  })
  await story.show('createCheckedMessage', {
    title: 'The sender is unknown',
    body: {
      sender: 'nobody',
      receiver: 'ben',
      receiverType: 'user',
      data: { text: 'Hello' },
    },
    status: 404,
  })
  await story.show('listCheckedMessages', { query: { moderationStatus: 'disapproved' } })
  await story.show('getCheckedMessage', { ids: { id } })
  await story.show('updateCheckedMessage', {
    ids: { id },
    body: { data: { text: 'Please come to the desk' } },
  })
  await story.show('deleteCheckedMessage', { ids: { id } })
}

/** Which messages a rule would have blocked. */
async function previewRule(story: Story): Promise<void> {
  const { id: previewId } = await story.show('createRulePreview', {
    body: {
      rule: { id: 'patients', conditions: [{ category: 'word', value: ['tomorrow'] }] },
      ...{ from: 1_700_000_000, to: 1_900_000_000, limit: 1_000 },
    },
  })
  const ids = { previewId }
  for (let state = ''; state !== 'done'; ) {
    ;({ state } = await story.run('getRulePreview', { ids }))
  }
  await story.show('getRulePreview', { ids })
  await story.show('listRulePreviews', { query: { limit: 10 } })
  await story.show('cancelRulePreview', { ids })
  await story.show('deleteRulePreview', { ids })
}

async function manageRules(story: Story): Promise<void> {
  await story.show('createRule', {
    body: {
      id: 'patients',
      name: 'Patients stay private',
      enabled: true,
      filters: [
        { type: 'receiver', entity: 'group', operand: 'type', operator: 'equals', value: 'public' },
      ],
      conditions: [
        {
          operand: 'text',
          operator: 'contains',
          category: 'pattern',
          isKeywordReferencePresent: true,
          value: 'patient-numbers',
        },
        { category: 'word', value: ['diagnosis', 'room number'] },
      ],
    },
  })
  await story.show('testRules', { body: { text: 'Ask for P-4491127 at the desk' } })
  await story.show('testRules', {
    title: 'Test conditions before you save them',
    body: {
      text: 'The ｄıägnosis is here',
      rule: { conditions: [{ category: 'word', value: ['diagnosis'] }] },
    },
  })
  await story.show('listRules', { query: { limit: 20 } })
  await story.show('getRule', { ids: { ruleId: 'patients' } })
  await checkMessages(story)
  await previewRule(story)
  await story.show('updateRule', {
    ids: { ruleId: 'patients' },
    body: { enabled: false, description: 'Until the trial starts' },
  })
  await story.show('updateRule', {
    title: 'Enable a rule that comes with the service',
    ids: { ruleId: 'default-phone-numbers' },
    body: { enabled: true },
  })
  await story.run('updateRule', {
    ids: { ruleId: 'default-phone-numbers' },
    body: { enabled: false },
  })
  await story.show('listRuleRevisions', { ids: { ruleId: 'patients' }, query: { limit: 5 } })
  await story.show('deleteKeywordList', {
    title: 'A rule uses the list',
    ids: { keywordId: 'patient-numbers' },
    status: 400,
  })
  await story.show('deleteRule', { ids: { ruleId: 'patients' } })
}

/** Nothing is called: the URL comes last. */
async function manageChecks(story: Story): Promise<void> {
  await story.show('createModelProvider', {
    body: {
      id: 'house-models',
      name: 'Models of the house',
      url: 'https://models.example.com/v1',
      key: 'sk-3f1d0c8a5b',
    },
  })
  await story.show('listModelProviders', { query: { limit: 20 } })
  await story.show('getModelProvider', { ids: { providerId: 'house-models' } })
  await story.show('updateModelProvider', {
    ids: { providerId: 'house-models' },
    body: { name: 'Our own models' },
  })
  await story.run('updateCheckSettings', {
    body: { classifier: { providerId: 'house-models', model: 'guard-2' } },
  })
  await story.show('deleteModelProvider', {
    title: 'Checks use the provider',
    ids: { providerId: 'house-models' },
    status: 400,
  })
  await story.show('getCheckSettings', {})
  await story.show('testCheck', {
    title: 'The app has no check',
    body: { condition: { category: 'custom-api' }, text: 'Is the ward open?' },
  })
  await story.show('rotateCheckSecret', {})
  await story.show('updateCheckSettings', {
    body: {
      url: 'https://moderation.example.com/check',
      basicAuthEnabled: true,
      username: 'loquat',
      password: 'correct horse',
      contextMessages: 5,
      onFailure: 'approved',
    },
  })
  await story.run('updateCheckSettings', { body: { url: null, classifier: null } })
  await story.show('deleteModelProvider', { ids: { providerId: 'house-models' } })
}

async function manageReasons(story: Story): Promise<void> {
  await story.show('createFlagReason', {
    body: { id: 'off-topic', name: 'Off topic', description: 'Not for this ward' },
  })
  await story.show('listFlagReasons', { query: { limit: 20 } })
  await story.show('getFlagReason', { ids: { id: 'off-topic' } })
  await story.show('updateFlagReason', { ids: { id: 'off-topic' }, body: { name: 'Wrong place' } })
  await story.show('deleteFlagReason', { ids: { id: 'off-topic' } })
}
