/** The expected state, kept as naively as possible: every question is answered by recounting. */

export const USERS = ['a', 'b', 'c', 'd'] as const
export const GROUPS = ['g', 'h', 'k'] as const
export const APP = 'app_system'
/** Limits so low that random histories reach them. */
export const MEMBERS_PER_GROUP = 3
export const GROUPS_PER_USER = 2

export interface Message {
  id: string
  at: number
  sender: string
  action: boolean
  /** The message that it replies to. */
  parent: string | undefined
  mentions: string[]
  /** Whether it counts as unread and moves the conversation up, as decided when it was sent. */
  counts: boolean
  moves: boolean
  deleted: boolean
  /** Removed for good. */
  gone: boolean
  /** Imported into a group: its mentions, and itself as a reply, aren't unread. */
  silent?: boolean
}

/** A user's side of a conversation; `read` and `cleared` are numbers of messages from the first. */
export interface Side {
  read: number
  cleared: number
  member: boolean
}

export interface Talk {
  /** A group's guid, or the two uids of a 1:1 conversation, in order. */
  parties: string[]
  group: boolean
  messages: Message[]
  sides: Record<string, Side>
}

export interface World {
  talks: Record<string, Talk>
  /** `a>b`: a blocks b. */
  blocks: string[]
  /** `g:a`: a is banned from g. */
  bans: string[]
  settings: Settings
}

/** Which messages move conversations up, in addition to plain ones. */
export interface Settings {
  groupActions: boolean
  messageActions: boolean
  threadActions: boolean
  replies: boolean
  calls: boolean
}

export const newWorld = (): World => ({
  talks: {},
  blocks: [],
  bans: [],
  settings: {
    ...{ groupActions: true, messageActions: false, threadActions: false },
    ...{ replies: true, calls: false },
  },
})

export const cloneWorld = (world: World): World => structuredClone(world)

/** A user's conversation with another user or a group, created on first use. */
export function talkOf(world: World, uid: string, other: string): Talk {
  const group = isGroup(other)
  const parties = group ? [other] : [uid, other].sort()
  const key = parties.join(' ')
  world.talks[key] ??= { parties, group, messages: [], sides: {} }
  return world.talks[key]
}

export const isGroup = (id: string) => (GROUPS as readonly string[]).includes(id)
/** Every group belongs to the first user. */
export const [OWNER] = USERS

export function sideOf(talk: Talk, uid: string): Side {
  talk.sides[uid] ??= { read: 0, cleared: 0, member: false }
  return talk.sides[uid]
}

export const takesPart = (talk: Talk, uid: string): boolean =>
  talk.group ? (talk.sides[uid]?.member ?? false) : talk.parties.includes(uid)

const isBanned = (world: World, guid: string, uid: string) => world.bans.includes(`${guid}:${uid}`)

/** The reason why a user may not use a group. */
export const outsideCode = (world: World, guid: string, uid: string) =>
  isBanned(world, guid, uid) ? 'ERR_BANNED_GROUPMEMBER' : 'ERR_GROUP_NOT_JOINED'

const lastMoving = (talk: Talk) => talk.messages.findLastIndex(({ moves }) => moves)

export const isVisible = (talk: Talk, uid: string): boolean =>
  takesPart(talk, uid) && lastMoving(talk) + 1 > (talk.sides[uid]?.cleared ?? 0)

export interface View {
  conversationId: string
  unread: string
  unreadMentions: number
  lastId: string | undefined
  updatedAt: number
  /** undefined if the first message is gone, because the value is then unknown. */
  createdAt: number | undefined
}

const isThere = ({ deleted, gone }: Message) => !deleted && !gone

/** A user's view of a conversation; undefined if there is none. */
export function viewOf(talk: Talk, uid: string): View | undefined {
  if (!isVisible(talk, uid)) return undefined
  const { read, cleared } = sideOf(talk, uid)
  const others = talk.messages
    .slice(read)
    .filter((message) => isThere(message) && message.sender !== uid)
  const last = talk.messages[lastMoving(talk)] as Message
  const first = talk.messages.slice(cleared).find(({ moves }) => moves)
  return {
    conversationId: idOf(talk),
    unread: String(others.filter(({ counts }) => counts).length),
    unreadMentions: others.filter(({ mentions, silent }) => !silent && mentions.includes(uid))
      .length,
    lastId: last.deleted || last.gone ? undefined : last.id,
    updatedAt: last.at,
    createdAt: first?.gone ? undefined : first?.at,
  }
}

export const idOf = ({ group, parties }: Talk): string =>
  group ? `group_${parties[0]}` : parties.join('_user_')

/** The counterpart: a user or the group. */
const counterpartOf = ({ group, parties }: Talk, uid: string): string =>
  (group || parties[0] !== uid ? parties[0] : parties[1]) ?? ''

/** The tags of users and groups, which never change. */
export const TAGS: Record<string, string[]> = { a: ['x'], b: ['x', 'y'], g: ['x'], h: ['y'] }
export const AGENT = 'd'

/** The parameters of a list, without the page. */
export interface Filter {
  conversationType?: 'user' | 'group'
  searchKey?: string
  userTags?: string
  groupTags?: string
  tags?: string
  unread?: boolean
  hideAgentic?: boolean
  onlyAgentic?: boolean
  includeBlockedUsers?: boolean
}

interface ListFilter extends Filter {
  /** Whether the list is the whole app's: then a conversation is agentic if either user is an agent. */
  ofApp?: boolean
}

function passes(world: World, talk: Talk, uid: string, filter: ListFilter): boolean {
  const other = counterpartOf(talk, uid)
  const tags = TAGS[other] ?? []
  const agentic = other === AGENT || (filter.ofApp === true && !talk.group && uid === AGENT)
  const { userTags, groupTags, searchKey } = filter
  const name = other === APP ? 'system' : other
  const demanded = (talk.group ? [groupTags, filter.tags] : [userTags]).filter(
    (tag) => tag !== undefined,
  )
  const tagged = demanded.length > 0 && demanded.every((tag) => tags.includes(tag))
  const byTag = userTags ?? groupTags ?? filter.tags
  return (
    (filter.includeBlockedUsers || talk.group || !world.blocks.includes(`${uid}>${other}`)) &&
    (filter.conversationType === undefined ||
      (filter.conversationType === 'group') === talk.group) &&
    (searchKey === undefined || name.includes(searchKey)) &&
    (byTag === undefined || tagged) &&
    !(filter.unread && viewOf(talk, uid)?.unread === '0') &&
    !(filter.hideAgentic && agentic) &&
    !(filter.onlyAgentic && !agentic)
  )
}

/** A user's list of conversations, in order. */
export function listOf(world: World, uid: string, filter: ListFilter = {}): View[] {
  const keyOf = (talk: Talk) => `${counterpartOf(talk, uid)} ${talk.group ? 'group' : 'user'}`
  return Object.values(world.talks)
    .filter((talk) => isVisible(talk, uid) && passes(world, talk, uid, filter))
    .map((talk) => ({ key: keyOf(talk), view: viewOf(talk, uid) as View }))
    .sort((one, two) => two.view.updatedAt - one.view.updatedAt || (one.key < two.key ? -1 : 1))
    .map(({ view }) => view)
}

/** The ids that a user can read, oldest first; undefined if the user has no access. */
export const historyOf = (talk: Talk, uid: string): string[] | undefined =>
  talk.group && !takesPart(talk, uid)
    ? undefined
    : talk.messages
        .slice(talk.sides[uid]?.cleared ?? 0)
        .filter(({ gone }) => !gone)
        .map(({ id }) => id)

export interface ThreadView {
  id: string
  replyCount: number
  lastReplyId: string | undefined
  unreadReplyCount: number
  mentionCount: number
}

/** The threads that a user can see, newest first, or only those in which the user wrote. */
export function threadsOf(world: World, uid: string, own: boolean): ThreadView[] {
  return Object.values(world.talks)
    .filter((talk) => takesPart(talk, uid))
    .flatMap((talk) => threadsIn(talk, uid, own))
    .sort((one, two) => two.at - one.at || Number(two.view.id) - Number(one.view.id))
    .map(({ view }) => view)
}

function threadsIn(talk: Talk, uid: string, own: boolean) {
  const { read, cleared } = sideOf(talk, uid)
  return talk.messages.slice(cleared).flatMap((parent) => {
    const replies = talk.messages.filter((message) => message.parent === parent.id)
    const last = replies.at(-1)
    if (parent.gone || !last) return []
    if (own && ![parent, ...replies].some(({ sender }) => sender === uid)) return []
    const unread = talk.messages
      .slice(read)
      .filter(
        (one) => one.parent === parent.id && isThere(one) && one.sender !== uid && !one.silent,
      )
    const view: ThreadView = {
      id: parent.id,
      replyCount: replies.filter(isThere).length,
      lastReplyId: isThere(last) ? last.id : undefined,
      unreadReplyCount: unread.length,
      mentionCount: unread.filter(({ mentions }) => mentions.includes(uid)).length,
    }
    return [{ at: last.at, view }]
  })
}
