'use client'
import { Avatar } from './avatar.tsx'
import { useChat, useStrings } from './chat.tsx'
import { useUser } from './hooks/people.ts'

/** More would only be a pattern. */
const SHOWN = 5

/** Small avatars of those who have read a message. */
export function Readers({ uids }: { uids: readonly string[] }) {
  const strings = useStrings()
  const others = uids.length - SHOWN
  return (
    <p className="lq-readers">
      <span className="lq-hidden">{strings.readBy(uids.length)}</span>
      {uids.slice(0, SHOWN).map((uid) => (
        <Reader key={uid} uid={uid} />
      ))}
      {others > 0 && <span aria-hidden="true">+{others}</span>}
    </p>
  )
}

function Reader({ uid }: { uid: string }) {
  const { parts } = useChat()
  const { name = uid, avatar } = useUser(uid) ?? {}
  const AvatarPart = parts.Avatar ?? Avatar
  return (
    <span title={name}>
      <AvatarPart id={uid} name={name} picture={avatar} />
    </span>
  )
}
