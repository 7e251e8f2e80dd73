import { useState } from 'react'
import { webUrl } from './safe-link.tsx'

const GOLDEN_ANGLE = 137.508

/** The picture, or the initials of the name on a colour derived from the id. */
export function Avatar({
  id,
  name,
  url,
  square,
}: {
  id: string
  name: string
  url?: string | undefined
  square?: boolean
}) {
  const [failed, setFailed] = useState<string>()
  const picture = webUrl(url)
  const sum = [...id].reduce((all, letter) => (all * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7)
  // Ids that differ by one, such as u1 and u2, get colours that are far apart.
  const hue = Math.round(sum * GOLDEN_ANGLE) % 360
  const letters = name
    .split(/\s+/)
    .flatMap((word) => word.match(/[\p{L}\p{N}\p{Extended_Pictographic}]/u) ?? [])
    .slice(0, 2)
  return (
    <span
      className={square ? 'avatar square' : 'avatar'}
      style={{ '--hue': hue } as object}
      aria-hidden="true"
    >
      {picture && failed !== picture ? (
        <img src={picture} alt="" loading="lazy" onError={() => setFailed(picture)} />
      ) : (
        // The zero-width non-joiner keeps the letters of cursive scripts apart.
        letters.join('\u200c').toUpperCase()
      )}
    </span>
  )
}

/** A user, group or app with its avatar, name and id. */
export const NamedAvatar = (props: {
  id: string
  name: string
  url?: string | undefined
  square?: boolean
}) => (
  <span className="named-avatar">
    <Avatar {...props} />
    <span>
      <span className="clip" style={{ display: 'block' }}>
        <bdi>{props.name}</bdi>
      </span>
      <small className="clip">{props.id}</small>
    </span>
  </span>
)
