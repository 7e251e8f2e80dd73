'use client'
import type { Target, User } from '@loquat/sdk/client'
import { type ReactNode, useState } from 'react'
import { Avatar } from './avatar.tsx'
import { useChat } from './chat.tsx'
import { AGENT_ROLE } from './content.ts'
import { dateOf, shortTimeOf } from './format.ts'
import { AskPerson } from './handover.tsx'
import { MOST_MEMBERS, useGroup, useMembers } from './hooks/group.ts'
import { useMute } from './hooks/mute.ts'
import { forgetUser, usePresence, useUser } from './hooks/people.ts'
import { Icon } from './icons.tsx'
import { MemberList } from './members.tsx'
import { Pane } from './pane.tsx'
import { PeoplePicker } from './people-picker.tsx'
import { Missing, Problem } from './problem.tsx'

export interface DetailsProps {
  target: Target
  onClose: () => void
  /** Opens the conversation with a user. */
  onMessage?: ((target: Target) => void) | undefined
  /** The user has left the group. */
  onLeft?: (() => void) | undefined
}

/** Who the conversation is with: a user's profile, or a group and its members. */
export function Details(props: DetailsProps) {
  const { type, id } = props.target
  // Another conversation starts afresh, without the member that was open.
  return <TargetDetails key={`${type} ${id}`} {...props} />
}

function TargetDetails({ target, onClose, onMessage, onLeft }: DetailsProps) {
  const { strings } = useChat()
  const [uid, setUid] = useState<string>()
  const shown = target.type === 'user' ? target.id : uid
  return (
    <Pane title={strings.details} onClose={onClose}>
      {uid !== undefined && (
        <button type="button" className="lq-link lq-up" onClick={() => setUid(undefined)}>
          <Icon name="back" size={14} />
          {strings.memberList}
        </button>
      )}
      {shown === undefined ? (
        <GroupDetails guid={target.id} onSelect={setUid} onLeft={onLeft ?? onClose} />
      ) : (
        <Profile uid={shown} onMessage={target.type === 'user' ? undefined : onMessage} />
      )}
    </Pane>
  )
}

interface CardProps {
  id: string
  name: string
  picture: string | undefined
  kind: Target['type']
  children?: ReactNode
}

/** A large picture with a name. */
function Card({ children, ...party }: CardProps) {
  const { parts } = useChat()
  const AvatarPart = parts.Avatar ?? Avatar
  return (
    <div className="lq-card">
      <AvatarPart {...party} withPresence />
      <h3>
        <bdi>{party.name}</bdi>
      </h3>
      {children}
    </div>
  )
}

export interface ProfileProps {
  uid: string
  /** Opens the conversation with the user. */
  onMessage?: ((target: Target) => void) | undefined
}

/** A user: name, status, and what one can do with them. */
export function Profile({ uid, onMessage }: ProfileProps) {
  const { client, strings } = useChat()
  const user = useUser(uid)
  const presence = usePresence(uid)
  if (!user) return <Missing value={user} />
  const { lastActiveAt: at } = user
  const away = at === undefined ? strings.offline : strings.lastSeen(shortTimeOf(at, strings))
  return (
    <>
      <Card id={uid} name={user.name} picture={user.avatar} kind="user">
        <p className="lq-soft">
          {user.role === AGENT_ROLE ? strings.agent : presence === 'online' ? strings.online : away}
        </p>
        {user.statusMessage && <p dir="auto">{user.statusMessage}</p>}
      </Card>
      <dl className="lq-properties">
        <dt>{strings.userId}</dt>
        <dd>{user.uid}</dd>
        <dt>{strings.memberSince}</dt>
        <dd>{dateOf(user.createdAt, strings)}</dd>
      </dl>
      {uid !== client.uid && (
        <div className="lq-actions">
          {onMessage && (
            <button type="button" onClick={() => onMessage({ type: 'user', id: uid })}>
              <Icon name="reply" />
              {strings.writeTo(user.name)}
            </button>
          )}
          <AskPerson agentUid={uid} />
          <MuteButton target={{ type: 'user', id: uid }} />
          <BlockButton user={user} />
        </div>
      )}
    </>
  )
}

/** Ends the notifications of a conversation, or begins them again. */
function MuteButton({ target }: { target: Target }) {
  const { strings } = useChat()
  const { isMuted, mute, unmute } = useMute(target)
  const [problem, setProblem] = useState(false)
  const change = () => {
    setProblem(false)
    const changed = isMuted ? unmute() : mute()
    changed.catch(() => setProblem(true))
  }
  return (
    <>
      <button type="button" onClick={change}>
        <Icon name={isMuted ? 'bell' : 'bellOff'} />
        {isMuted ? strings.unmute : strings.mute}
      </button>
      {problem && <Problem />}
    </>
  )
}

function BlockButton({ user: { uid, name, blockedByMe = false } }: { user: User }) {
  const { client, strings } = useChat()
  const [isBlocked, setBlocked] = useState(blockedByMe)
  const [problem, setProblem] = useState(false)
  const change = async () => {
    setProblem(false)
    const { blockedUsers } = client.api
    const body = { blockedUids: [uid] }
    await (isBlocked
      ? blockedUsers.unblock(client.uid, body)
      : blockedUsers.block(client.uid, body))
    forgetUser(client, uid)
    setBlocked(!isBlocked)
  }
  return (
    <>
      <button
        type="button"
        data-danger={!isBlocked || undefined}
        onClick={() => void change().catch(() => setProblem(true))}
      >
        <Icon name="block" />
        {isBlocked ? strings.unblock(name) : strings.block(name)}
      </button>
      {problem && <Problem />}
    </>
  )
}

interface GroupDetailsProps {
  guid: string
  onSelect: (uid: string) => void
  onLeft: () => void
}

function GroupDetails({ guid, onSelect, onLeft }: GroupDetailsProps) {
  const { client, strings } = useChat()
  const group = useGroup(guid)
  const [isSure, setSure] = useState(false)
  const [problem, setProblem] = useState('')
  if (!group) return <Missing value={group} />
  const leave = () =>
    client.api.groups.leave(guid).then(onLeft, ({ message }: Error) => setProblem(message))
  return (
    <>
      <Card id={guid} name={group.name} picture={group.icon} kind="group">
        <p className="lq-soft">{strings.members(group.membersCount)}</p>
        {group.description && <p dir="auto">{group.description}</p>}
      </Card>
      {group.scope === 'admin' && <AddMembers guid={guid} />}
      <MemberList guid={guid} onSelect={onSelect} />
      <div className="lq-actions">
        {problem && (
          <p className="lq-failed" role="alert">
            {problem}
          </p>
        )}
        <MuteButton target={{ type: 'group', id: guid }} />
        <button type="button" data-danger onClick={() => (isSure ? void leave() : setSure(true))}>
          <Icon name="leave" />
          {isSure ? strings.leaveSure(group.name) : strings.leaveGroup}
        </button>
      </div>
    </>
  )
}

/** Adds users to the group. */
function AddMembers({ guid }: { guid: string }) {
  const { client, strings } = useChat()
  const [isOpen, setOpen] = useState(false)
  const members = useMembers(isOpen ? guid : undefined, MOST_MEMBERS)
  const [chosen, setChosen] = useState<readonly User[]>([])
  const [problem, setProblem] = useState(false)
  const add = async () => {
    setProblem(false)
    const participants = chosen.map(({ uid }) => uid)
    await client.api.groupMembers.add(guid, { participants })
    setChosen([])
    setOpen(false)
  }
  return (
    <div className="lq-actions">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="plus" />
        {strings.addMembers}
      </button>
      {isOpen && (
        <>
          <PeoplePicker
            chosen={chosen}
            onChange={setChosen}
            without={members?.map(({ uid }) => uid)}
          />
          {problem && <Problem />}
          <button
            type="button"
            className="lq-button"
            disabled={chosen.length === 0}
            onClick={() => void add().catch(() => setProblem(true))}
          >
            {strings.addCount(chosen.length)}
          </button>
        </>
      )}
    </div>
  )
}
