'use client'
import type { Member } from '@loquat/sdk/client'
import { type ReactNode, useRef, useState } from 'react'
import { Avatar } from './avatar.tsx'
import { useChat } from './chat.tsx'
import { MOST_MEMBERS, useGroup, useMembers } from './hooks/group.ts'
import { Icon, type IconName } from './icons.tsx'
import { moveFocus, Popover } from './popover.tsx'
import { Missing, Problem } from './problem.tsx'

const RANKS = ['admin', 'moderator', 'participant'] as const

/** How many members are shown at first, and how many more at each click. */
const PAGE = 100
const MORE = 300

export interface MemberListProps {
  guid: string
  /** Somebody chose a member, for example to see the profile. */
  onSelect?: ((uid: string) => void) | undefined
}

/** The members of a group with their roles. Admins can change them. */
export function MemberList({ guid, onSelect }: MemberListProps) {
  const { strings } = useChat()
  const group = useGroup(guid)
  const [count, setCount] = useState(PAGE)
  const members = useMembers(guid, count)
  const most = Math.min(group?.membersCount ?? 0, MOST_MEMBERS)
  const isCut = !!members && members.length < most
  const sorted = members?.toSorted(
    (one, other) => RANKS.indexOf(one.scope) - RANKS.indexOf(other.scope),
  )
  const [problem, setProblem] = useState(false)
  const act = (change: () => Promise<unknown>) => {
    setProblem(false)
    // The list itself shows what has changed.
    change().catch(() => setProblem(true))
  }
  const { owner, scope } = group ?? {}
  return (
    <>
      {problem && <Problem />}
      {members === null && <Missing value={members} />}
      <ul className="lq-members" aria-label={strings.memberList} aria-busy={members === undefined}>
        {sorted?.map((member) => (
          <li key={member.uid} className="lq-member">
            <MemberRow member={member} owner={owner} onSelect={onSelect} />
            <MemberMenu guid={guid} member={member} owner={owner} scope={scope} onAct={act} />
          </li>
        ))}
      </ul>
      {isCut && (
        <button
          type="button"
          className="lq-link lq-load-more"
          onClick={() => setCount(Math.min(count + MORE, MOST_MEMBERS))}
        >
          {strings.loadMore}
        </button>
      )}
    </>
  )
}

interface MemberRowProps {
  member: Member
  owner: string | undefined
  onSelect: ((uid: string) => void) | undefined
}

function MemberRow({ member, owner, onSelect }: MemberRowProps) {
  const { client, strings, parts } = useChat()
  const { uid, name, avatar, scope } = member
  const AvatarPart = parts.Avatar ?? Avatar
  const role = uid === owner ? strings.owner : scope === 'participant' ? '' : strings.scopes[scope]
  const content = (
    <>
      <AvatarPart id={uid} name={name} picture={avatar} withPresence />
      <span className="lq-person-main">
        <span className="lq-clip">
          <bdi>{name}</bdi>
          {uid === client.uid && <span className="lq-soft"> ({strings.you})</span>}
        </span>
      </span>
      {role && <small className="lq-chip">{role}</small>}
    </>
  )
  if (!onSelect) return <span className="lq-person">{content}</span>
  return (
    <button type="button" className="lq-person" onClick={() => onSelect(uid)}>
      {content}
    </button>
  )
}

interface MemberMenuProps {
  guid: string
  member: Member
  owner: string | undefined
  /** The user's own scope. */
  scope: Member['scope'] | undefined
  onAct: (change: () => Promise<unknown>) => void
}

/** What the user may do with a member. The server decides; this only hides what it would refuse. */
function MemberMenu({ guid, member, owner, scope, onAct }: MemberMenuProps) {
  const { client, strings } = useChat()
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const { uid, name } = member
  const isAdmin = scope === 'admin'
  const mayRemove = isAdmin || (scope === 'moderator' && member.scope === 'participant')
  if (uid === client.uid || uid === owner || !mayRemove) return null
  const { groupMembers } = client.api
  const item = (icon: IconName, label: string, act: () => Promise<unknown>): ReactNode => (
    <button
      key={label}
      type="button"
      role="menuitem"
      onClick={() => {
        setOpen(false)
        onAct(act)
      }}
    >
      <Icon name={icon} />
      {label}
    </button>
  )
  return (
    <>
      <button
        ref={button}
        type="button"
        className="lq-tool"
        aria-label={strings.manageMember(name)}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <Popover
          anchor={button}
          label={strings.manageMember(name)}
          role="menu"
          className="lq-menu"
          onClose={() => setOpen(false)}
        >
          {/* biome-ignore lint/a11y/noStaticElementInteractions: it only moves the focus of the buttons */}
          <div onKeyDown={(event) => moveFocus(event)}>
            {isAdmin &&
              RANKS.filter((rank) => rank !== member.scope).map((rank) =>
                item('people', strings.makeScope[rank], () =>
                  groupMembers.changeScope(guid, uid, { scope: rank }),
                ),
              )}
            {item('leave', strings.removeMember, () => groupMembers.kick(guid, uid))}
          </div>
        </Popover>
      )}
    </>
  )
}
