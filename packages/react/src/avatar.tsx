'use client'
import { useState } from 'react'
import { safeUrl } from './content.ts'
import { usePresence } from './hooks/people.ts'
import type { AvatarProps } from './parts.ts'

/** The picture, or the initials of the name on a colour derived from the id. Without presence, it needs no provider. */
export function Avatar({ id, name, picture, kind = 'user', withPresence = false }: AvatarProps) {
  const [failed, setFailed] = useState<string>()
  const url = safeUrl(picture)
  const hue = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
  const letters = name
    .split(/\s+/)
    .flatMap((word) => word.match(/[\p{L}\p{N}\p{Extended_Pictographic}]/u) ?? [])
    .slice(0, 2)
  return (
    <span className="lq-avatar" data-kind={kind} style={{ '--lq-hue': hue } as object} aria-hidden>
      {url && failed !== url ? (
        <img src={url} alt="" loading="lazy" onError={() => setFailed(url)} />
      ) : (
        // The zero-width non-joiner keeps the letters of cursive scripts apart.
        letters.join('\u200c').toUpperCase()
      )}
      {withPresence && kind === 'user' && <Presence uid={id} />}
    </span>
  )
}

const Presence = ({ uid }: { uid: string }) =>
  usePresence(uid) === 'online' && <span className="lq-presence" />
