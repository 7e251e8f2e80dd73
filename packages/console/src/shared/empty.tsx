import type { ReactNode } from 'react'
import { CodeBlock } from './copyable.tsx'

/** An empty state: what to do next, and a command to copy. */
export const Empty = (props: {
  title: string
  children?: ReactNode
  curl?: string | undefined
  action?: ReactNode
}) => (
  <div className="empty">
    <h2>{props.title}</h2>
    {props.children && <p>{props.children}</p>}
    {props.action}
    {props.curl && <CodeBlock label="Command" code={props.curl} />}
  </div>
)
