/** Mattermost's bulk export: a file with one object per line, {type, [type]: …}. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readLines } from '../lines.ts'
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

interface Post {
  team?: string
  channel?: string
  channel_members?: string[]
  user?: string
  message?: string
  type?: string
  create_at?: number
  edit_at?: number
  is_pinned?: boolean
  reactions?: { user?: string; emoji_name?: string; create_at?: number }[] | null
  replies?: Post[] | null
  attachments?: unknown[] | null
}

/** Lines with many replies are long. */
const LINE_BYTES = 16 * 1024 * 1024

export const mattermost: Adapter = async function* (path, unmapped) {
  for await (const { line, text, problem } of readLines(createReadStream(path), LINE_BYTES)) {
    const given = parse(text)
    if (!given) {
      unmapped.add(`line ${line}: ${problem ?? 'no JSON object'}`)
      continue
    }
    if (given.type !== 'version') {
      yield* mapped(`${given.type}s`, unmapped, () => itemsOf(given, unmapped))
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what another program wrote
function* itemsOf({ type, ...given }: any, unmapped: Unmapped): Generator<Item> {
  if (type === 'channel') yield* channelOf(given.channel)
  else if (type === 'user') yield* userOf(given.user, unmapped)
  else if (type === 'post') yield* postOf(given.post, unmapped)
  else if (type === 'direct_post') yield* postOf(given.direct_post, unmapped)
  else if (type === 'direct_channel') yield* directOf(given.direct_channel)
  else unmapped.add(`${type}s`)
}

// biome-ignore lint/suspicious/noExplicitAny: what another program wrote
function parse(text: string | undefined): any {
  try {
    const value = JSON.parse(text ?? '')
    return typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}

const ID_LENGTH = 100
const DIGEST_LENGTH = 32

/** An id that other names could have too, because it was cut or changed, says by a digest which ones it is. */
function guidOf(team = '', channel = ''): string {
  const names = `${team}-${channel}`
  const id = idOf(names)
  if (id === names && !team.includes('-')) return id
  return `${id.slice(0, ID_LENGTH - DIGEST_LENGTH - 1)}-${digestOf(team, channel)}`
}

const secondOf = (ms = 0) => Math.floor(ms / 1000)

interface Channel {
  team?: string
  name?: string
  display_name?: string
  type?: string
  header?: string
  purpose?: string
}

function* channelOf(channel: Channel): Generator<Item> {
  const { team, name, display_name: shown, type, header, purpose } = channel
  const description = cut([header, purpose].filter(Boolean).join('\n'), 255)
  yield {
    ...{ kind: 'group', guid: guidOf(team, name), name: cut(shown || name || '', 100) },
    ...{ type: type === 'P' ? 'private' : 'public', ...present({ description }) },
  }
}

interface User {
  username?: string
  nickname?: string
  first_name?: string
  last_name?: string
  email?: string
  delete_at?: number
  teams?: { name?: string; channels?: { name?: string; roles?: string }[] | null }[] | null
}

function* userOf(user: User, unmapped: Unmapped): Generator<Item> {
  const { username = '', nickname, first_name: first, last_name: last, delete_at: deleted } = user
  const uid = idOf(username)
  const name = nickname || [first, last].filter(Boolean).join(' ') || username
  yield {
    ...{ kind: 'user', uid, name: cut(name, 100), metadata: { mattermostName: username } },
    ...(deleted && { deactivatedAt: secondOf(deleted) }),
  }
  if (user.email) unmapped.add('email addresses of users')
  for (const { name: team, channels } of user.teams ?? []) {
    for (const { name: channel, roles = '' } of channels ?? []) {
      const guid = guidOf(team, channel)
      const scope = roles.includes('channel_admin') ? 'admin' : 'participant'
      yield { kind: 'member', memberId: `${guid}_member_${uid}`, guid, uid, scope }
    }
  }
}

/** More than two people share a private group. */
function* directOf({ members = [] }: { members?: string[] }): Generator<Item> {
  if (members.length <= 2) return
  const guid = severalOf(members)
  yield { kind: 'group', guid, name: cut(members.join(', '), 100), type: 'private' }
  for (const member of members) {
    const uid = idOf(member)
    yield { kind: 'member', memberId: `${guid}_member_${uid}`, guid, uid }
  }
}

/** What many names make together doesn't fit into an id; if it were cut, different ones could become the same. */
const digestOf = (...parts: (string | number)[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, DIGEST_LENGTH)

const severalOf = (members: string[]) => `direct-${digestOf(...members.toSorted())}`

/** Without a muid, the parent isn't imported, and its replies become messages of their own. */
interface Parent {
  post: Post
  muid?: string
}

function* postOf(post: Post, unmapped: Unmapped, parent?: Parent): Generator<Item> {
  const {
    user = '',
    message,
    type,
    create_at: at = 0,
    edit_at: edited,
    attachments,
    replies,
  } = post
  const leave = function* (what: string): Generator<Item> {
    unmapped.add(what)
    for (const reply of replies ?? []) yield* postOf(reply, unmapped, { post })
  }
  if (type) return yield* leave(`posts of the type ${type}`)
  for (const _ of attachments ?? []) unmapped.add('attachments, which are files beside the export')
  const target = targetOf(parent?.post ?? post, user)
  const { receiverType, receiver } = target
  const muid = `mattermost-${digestOf(receiverType, receiver, idOf(user), at)}`
  // `@name` stays a text: Mattermost doesn't say whether it names somebody.
  const content = contentOf(message, [])
  if (!content) return yield* leave('posts without text')
  yield {
    ...{ kind: 'message', muid, sender: idOf(user), ...target, category: 'message', ...content },
    sentAt: secondOf(at),
    ...(parent?.muid !== undefined && { parentMuid: parent.muid }),
    ...(edited && { editedAt: secondOf(edited) }),
    ...(post.is_pinned && { pinnedAt: secondOf(at), pinnedBy: idOf(user) }),
  }
  for (const { user: uid = '', emoji_name: name = '', create_at: reacted = at } of post.reactions ??
    []) {
    yield {
      ...{ kind: 'reaction', muid, uid: idOf(uid), reaction: emojiOf(name) },
      reactedAt: secondOf(reacted),
    }
  }
  for (const reply of replies ?? []) yield* postOf(reply, unmapped, { post, muid })
}

function targetOf({ team, channel, channel_members: members }: Post, sender: string) {
  if (!members) return { receiverType: 'group', receiver: guidOf(team, channel) }
  if (members.length > 2) return { receiverType: 'group', receiver: severalOf(members) }
  const other = members.find((member) => member !== sender) ?? sender
  return { receiverType: 'user', receiver: idOf(other) }
}
