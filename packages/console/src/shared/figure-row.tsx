import type { ReactNode } from 'react'
import './figure-row.css'

export interface Figure {
  name: string
  value: ReactNode
  /** One short line below the value. */
  about?: ReactNode
}

/** A row of numbers above a list. */
export const FigureRow = ({ figures }: { figures: Figure[] }) => (
  <dl className="figure-row">
    {figures.map(({ name, value, about }) => (
      <div key={name} className="panel">
        <dt>{name}</dt>
        <dd>
          <strong>{value}</strong>
          {about && <small>{about}</small>}
        </dd>
      </div>
    ))}
  </dl>
)
