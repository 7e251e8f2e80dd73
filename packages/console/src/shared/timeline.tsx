import type { ReactNode } from 'react'
import type { Tone } from './status.tsx'
import { Time } from './time.tsx'
import './timeline.css'

export interface Moment {
  id: string
  /** Unix seconds. */
  at?: number | undefined
  title: ReactNode
  /** More about it, below the title. */
  about?: ReactNode
  tone?: Tone | undefined
}

/** What happened, in order. */
export const Timeline = ({ label, moments }: { label: string; moments: Moment[] }) => (
  <ol className="timeline" aria-label={label}>
    {moments.map(({ id, at, title, about, tone = 'plain' }) => (
      <li key={id} className={tone}>
        <div className="timeline-title">
          <span>{title}</span>
          {at !== undefined && <Time at={at} />}
        </div>
        {about && <div className="timeline-about">{about}</div>}
      </li>
    ))}
  </ol>
)
