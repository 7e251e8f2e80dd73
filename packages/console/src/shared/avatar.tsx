import { useState } from 'react'
import { webUrl } from './safe-link.tsx'

/** A picture, or the first letters of the name on a colour of its own. */
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
  const hue = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
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
        // Apart, else letters of some scripts would run together.
        letters.join('\u200c').toUpperCase()
      )}
    </span>
  )
}

/** Somebody or something with a picture, a name and an id. */
export const Who = (props: {
  id: string
  name: string
  url?: string | undefined
  square?: boolean
}) => (
  <span className="who">
    <Avatar {...props} />
    <span>
      <span className="clip" style={{ display: 'block' }}>
        <bdi>{props.name}</bdi>
      </span>
      <small className="clip">{props.id}</small>
    </span>
  </span>
)
