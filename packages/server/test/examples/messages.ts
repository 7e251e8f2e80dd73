/** Messages and what people do with them, then conversations. */
import type { Story } from './story.ts'

const ben = { receiver: 'ben', receiverType: 'user' }
const ward = { receiver: 'ward-3', receiverType: 'group' }

export async function talk(story: Story): Promise<void> {
  const greeting = await story.show('sendMessage', {
    title: 'A text message',
    as: 'amira',
    body: { ...ben, data: { text: 'Good morning! Could you cover room 12 until ten?' } },
  })
  await story.show('sendMessage', {
    title: 'A message to a group that mentions a user',
    as: 'amira',
    body: {
      ...ward,
      data: { text: 'Rounds start at 9. <@uid:ben> takes rooms 10 to 14.' },
      tags: ['rounds'],
    },
  })
  await sendOtherKinds(story)
  await story.run('sendMessage', {
    as: 'ben',
    body: { receiver: 'amira', receiverType: 'user', data: { text: 'Sure, on my way.' } },
  })
  await readMessages(story, greeting.id)
  await replyInThread(story)
  await react(story, greeting.id)
  await keep(story, greeting.id)
  await interact(story)
  await changeMessages(story)
}

async function sendOtherKinds(story: Story): Promise<void> {
  await story.show('sendMessage', {
    title: 'A picture',
    as: 'amira',
    body: {
      ...ben,
      type: 'image',
      data: {
        text: 'The new rota',
        attachments: [
          {
            url: 'https://files.clinic.example/rota-march.png',
            name: 'rota-march.png',
            mimeType: 'image/png',
            extension: 'png',
            size: 48213,
          },
        ],
      },
    },
  })
  await story.show('sendMessage', {
    title: 'A custom message',
    as: 'amira',
    body: {
      ...ben,
      category: 'custom',
      type: 'location',
      data: { customData: { latitude: 47.07, longitude: 15.44, label: 'Entrance B' } },
    },
  })
  await story.show('sendMessage', {
    title: 'A quote of an earlier message',
    as: 'ben',
    body: {
      ...ward,
      data: { text: 'Rooms 10 to 14 are done.' },
      quotedMessageId: await lastOf(story, 'ward-3'),
    },
  })
  await story.show('sendMessage', {
    title: 'One text to several receivers',
    body: {
      multipleReceivers: { uids: ['cleo', 'nobody'], guids: ['ward-3'] },
      data: { text: 'The canteen closes at 2 pm today.' },
    },
  })
}

/** The id of a group's newest message. */
async function lastOf(story: Story, guid: string): Promise<string> {
  const query = { limit: 1, affix: 'prepend', category: 'message' }
  const [last] = await story.run('listGroupMessages', { ids: { guid }, query })
  return last.id
}

async function readMessages(story: Story, id: string): Promise<void> {
  await story.show('getMessage', { ids: { id }, as: 'amira' })
  await story.show('listMessages', { as: 'amira', query: { searchKey: 'room', limit: 2 } })
  await story.show('listUserMessages', { ids: { uid: 'ben' }, as: 'amira', query: { limit: 2 } })
  await story.show('listGroupMessages', {
    ids: { guid: 'ward-3' },
    as: 'amira',
    query: { categories: ['message', 'custom'], limit: 2 },
  })
}

async function replyInThread(story: Story): Promise<void> {
  const id = await lastOf(story, 'ward-3')
  await story.show('sendThreadReply', {
    ids: { id },
    as: 'cleo',
    body: { data: { text: 'Thank you, that was quick.' } },
  })
  await story.show('listThreadReplies', { ids: { id }, as: 'amira', query: { limit: 10 } })
  await story.show('followThread', { ids: { id }, as: 'amira' })
  await story.show('listThreads', { as: 'amira', query: { limit: 10, withUnreadReplyCount: true } })
  await story.show('unfollowThread', { ids: { id }, as: 'amira' })
}

async function react(story: Story, id: string): Promise<void> {
  const ids = { id, reaction: '👍' }
  await story.show('addMessageReaction', { ids, as: 'ben' })
  await story.show('listMessageReactions', { ids: { id }, as: 'amira', query: { limit: 10 } })
  await story.show('listMessageReactionsByValue', { ids, as: 'amira', query: { limit: 10 } })
  await story.show('removeMessageReaction', { ids, as: 'ben' })
}

async function keep(story: Story, id: string): Promise<void> {
  const rounds = await lastOf(story, 'ward-3')
  await story.show('pinMessage', { ids: { id: rounds }, as: 'amira' })
  await story.run('pinMessage', { ids: { id }, as: 'amira' })
  await story.show('listGroupMessagesPinned', {
    ids: { guid: 'ward-3' },
    as: 'ben',
    query: { limit: 10 },
  })
  await story.show('listUserMessagesPinned', {
    ids: { uid: 'ben' },
    as: 'amira',
    query: { limit: 10 },
  })
  await story.show('unpinMessage', { ids: { id: rounds }, as: 'amira' })
  await story.show('saveMessage', { ids: { id }, as: 'ben' })
  await story.show('listSavedMessages', { as: 'ben', query: { limit: 10 } })
  await story.show('unsaveMessage', { ids: { id }, as: 'ben' })
}

async function interact(story: Story): Promise<void> {
  const { id } = await story.show('sendMessage', {
    title: 'An interactive message',
    as: 'amira',
    body: {
      ...ben,
      category: 'interactive',
      type: 'card',
      data: {
        interactiveData: {
          text: 'Can you take the late shift on Friday?',
          cardActions: [
            {
              elementType: 'button',
              elementId: 'yes',
              buttonText: 'Yes',
              action: { actionType: 'urlNavigation', url: 'https://rota.clinic.example/friday' },
            },
          ],
        },
      },
    },
  })
  await story.show('markInteractions', { ids: { id }, as: 'ben', body: { interactions: ['yes'] } })
}

async function changeMessages(story: Story): Promise<void> {
  const { id } = await story.run('sendMessage', {
    as: 'amira',
    body: { ...ben, data: { text: 'Lunch at 12?' } },
  })
  await story.show('updateMessage', {
    ids: { id },
    as: 'amira',
    body: { data: { text: 'Lunch at 12:30?' } },
  })
  await story.show('deleteMessage', { ids: { id }, as: 'amira', body: {} })
}

export async function manageConversations(story: Story): Promise<void> {
  // Conversations with messages of the same second are sorted by uid and guid. Ben's have the same order by time.
  await story.show('listConversations', {
    title: "One user's conversations",
    as: 'ben',
    query: { unread: true, perPage: 10 },
  })
  await story.show('listConversations', {
    title: 'Conversations of the whole app, each once',
    query: { unique: 1, conversationType: 'user', perPage: 1 },
  })
  const [sent] = await story.run('listUserMessages', {
    ids: { uid: 'ben' },
    as: 'amira',
    query: { limit: 1, category: 'message' },
  })
  await handleOne(story, 'User', { uid: 'amira' }, sent.id)
  await story.show('listMessageReceipts', {
    ids: { id: sent.id },
    as: 'amira',
    query: { limit: 10 },
  })
  await handleOne(story, 'Group', { guid: 'ward-3' }, await lastOf(story, 'ward-3'))
  await pinForEveryone(story)
  const conversationId = 'amira_user_ben'
  await story.show('getConversation', { ids: { conversationId }, as: 'ben' })
  await story.show('resetUserConversation', { ids: { uid: 'ben' }, as: 'amira', body: {} })
  await story.show('deleteConversation', { ids: { conversationId }, as: 'ben' })
  await story.show('resetGroupConversation', { ids: { guid: 'ward-3' }, as: 'ben', body: {} })
}

/** What Ben does with one conversation, named by the other user or by the group. */
async function handleOne(
  story: Story,
  kind: 'User' | 'Group',
  ids: Record<string, string>,
  messageId: string,
): Promise<void> {
  const own = { ids, as: 'ben' }
  await story.show(`mark${kind}ConversationDelivered`, { ...own, body: { messageId } })
  await story.show(`mark${kind}ConversationRead`, { ...own, body: { messageId } })
  await story.show(`get${kind}Conversation`, own)
  await story.show(`mark${kind}ConversationUnread`, { ...own, body: { messageId } })
  await story.show(`update${kind}Conversation`, { ...own, body: { tags: ['today'] } })
  await story.show(`pin${kind}Conversation`, own)
  await story.show(`unpin${kind}Conversation`, own)
}

async function pinForEveryone(story: Story): Promise<void> {
  await story.show('setPinnedConversations', {
    body: { pinnedConversations: [{ guid: 'ward-3' }] },
  })
  await story.show('getPinnedConversations')
  await story.run('setPinnedConversations', { body: { pinnedConversations: [] } })
}
