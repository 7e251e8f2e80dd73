/** Slack's export: a folder with users.json, channels.json …, and a folder per channel with a file per day. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../../../platform/errors.ts'
import {
  type Adapter,
  contentOf,
  cut,
  emojiOf,
  type Item,
  idOf,
  mapped,
  present,
  type Unmapped,
} from './adapter.ts'

interface SlackUser {
  id: string
  name: string
  deleted?: boolean
  is_bot?: boolean
  updated?: number
  profile?: { real_name?: string; display_name?: string; image_512?: string; status_text?: string }
}

interface Channel {
  id: string
  name?: string
  created?: number
  creator?: string
  members?: string[]
  topic?: { value?: string }
  purpose?: { value?: string }
}

interface SlackMessage {
  type?: string
  subtype?: string
  user?: string
  text?: string
  ts?: string
  thread_ts?: string
  edited?: { ts?: string }
  reactions?: { name: string; users: string[] }[]
  files?: { name?: string; url_private?: string; mimetype?: string; size?: number }[]
}

/** Messages that people wrote. Others say what happened, such as `channel_join`. */
const WRITTEN = new Set([undefined, 'file_share', 'me_message', 'thread_broadcast'])

export const slack: Adapter = async function* (path, unmapped) {
  const users = await list<SlackUser>(path, 'users.json')
  if (!users) throw new UserError(`There is no users.json in "${path}".`)
  const known = new Set(users.map(({ id }) => id))
  for (const user of users) yield userOf(user)
  const channels = await list<Channel>(path, 'channels.json')
  const groups = await list<Channel>(path, 'groups.json')
  const several = await list<Channel>(path, 'mpims.json')
  const direct = (await list<Channel>(path, 'dms.json')) ?? []
  const open = (channels ?? []).map((channel) => ({ channel, type: 'public' }))
  const closed = [...(groups ?? []), ...(several ?? [])].map((channel) => ({
    channel,
    type: 'private',
  }))
  for (const { channel, type } of [...open, ...closed]) yield* groupOf(channel, type, known)
  for (const { channel } of [...open, ...closed]) {
    const to = { receiverType: 'group', receiver: idOf(channel.id) }
    yield* messagesOf({ path, channel, known, unmapped, to: () => to })
  }
  for (const channel of direct) {
    const [one = '', other = one] = channel.members ?? []
    if (!known.has(one) || !known.has(other)) {
      unmapped.add('direct messages with users of another workspace')
      continue
    }
    const to = (sender: string) => ({
      receiverType: 'user',
      receiver: idOf(sender === one ? other : one),
    })
    yield* messagesOf({ path, channel, known, unmapped, to })
  }
}

async function list<T>(path: string, name: string): Promise<T[] | undefined> {
  const text = await readFile(join(path, name), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new UserError(`"${join(path, name)}" is not valid JSON.`)
  }
}

function userOf({ id, name, deleted, updated, profile = {} }: SlackUser): Item {
  const shown = profile.display_name || profile.real_name || name
  return {
    ...{ kind: 'user', uid: idOf(id), name: cut(shown, 100), metadata: { slackName: name } },
    ...present({ avatar: profile.image_512, statusMessage: profile.status_text }),
    ...(deleted && updated && { deactivatedAt: updated }),
  }
}

function* groupOf(channel: Channel, type: string, known: Set<string>): Generator<Item> {
  const { id, name = id, created, creator = '', members = [], topic, purpose } = channel
  const owner = known.has(creator) ? idOf(creator) : undefined
  const description = [topic?.value, purpose?.value].filter(Boolean).join('\n')
  yield {
    ...{ kind: 'group', guid: idOf(id), name: cut(name, 100), type },
    ...present({ owner, createdAt: created, description: cut(description, 255) }),
  }
  for (const member of members) {
    if (!known.has(member) || member === creator) continue
    const [guid, uid] = [idOf(id), idOf(member)]
    yield { kind: 'member', memberId: `${guid}_member_${uid}`, guid, uid }
  }
}

interface Conversation {
  path: string
  channel: Channel
  known: Set<string>
  unmapped: Unmapped
  to(sender: string): object
}

async function* messagesOf({ path, channel, known, unmapped, to }: Conversation) {
  const left = new Set<string>()
  // Direct messages are in folders named by their ids, channels in those named by their names.
  for (const folder of [channel.name, channel.id]) {
    if (!folder) continue
    const days = await readdir(join(path, folder)).catch(() => undefined)
    if (!days) continue
    for (const day of days.filter((name) => name.endsWith('.json')).sort()) {
      for (const message of (await list<SlackMessage>(join(path, folder), day)) ?? []) {
        const map = () => messageOf(message, { channel, known, unmapped, to, left })
        yield* mapped('messages', unmapped, map)
      }
    }
    return
  }
}

interface Messages extends Omit<Conversation, 'path'> {
  /** Times of messages that aren't imported. Replies to them become messages of their own. */
  left: Set<string>
}

function* messageOf(
  message: SlackMessage,
  { channel, known, unmapped, to, left }: Messages,
): Generator<Item> {
  const {
    subtype,
    user = '',
    ts = '',
    thread_ts: thread,
    edited,
    reactions = [],
    files = [],
  } = message
  const leave = (what: string) => {
    unmapped.add(what)
    left.add(ts)
  }
  if (!WRITTEN.has(subtype)) return leave(`messages of the type ${subtype}`)
  if (!known.has(user)) return leave('messages of unknown users')
  const links = files.filter(({ url_private: url }) => url)
  if (links.length < files.length) unmapped.add('files that were deleted')
  const attachments = links.map(({ url_private: url, name, mimetype, size }) =>
    present({ url, name, mimeType: mimetype, size }),
  )
  const content = contentOf(withMentions(message.text, known), attachments)
  if (!content) return leave('messages without text, such as blocks of apps')
  const muid = muidOf(channel, ts)
  yield {
    ...{ kind: 'message', muid, sender: idOf(user), ...to(user), ...content },
    ...{ category: 'message', sentAt: secondOf(ts) },
    ...(thread && thread !== ts && !left.has(thread) && { parentMuid: muidOf(channel, thread) }),
    ...(edited?.ts && { editedAt: secondOf(edited.ts) }),
  }
  for (const { name, users } of reactions) {
    for (const uid of users) {
      if (!known.has(uid)) continue
      yield {
        kind: 'reaction',
        muid,
        uid: idOf(uid),
        reaction: emojiOf(name),
        reactedAt: secondOf(ts),
      }
    }
  }
}

const muidOf = ({ id }: Channel, ts: string) => `slack-${id}-${ts}`
const secondOf = (ts: string) => Math.floor(Number(ts))

/** `<@U1>` names a user; `&lt;` and its like stand for characters. */
const withMentions = (text: string | undefined, known: Set<string>) =>
  text
    ?.replace(/<@(\w+)(?:\|[^>]*)?>/g, (all, id: string) =>
      known.has(id) ? `<@uid:${idOf(id)}>` : all,
    )
    .replace(/<(https?:[^|>]+)(?:\|[^>]*)?>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
