import type { ReactNode } from 'react'
import { CodeBlock } from './copyable.tsx'

/** Nothing is here: what to do next, with a call to copy. */
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
