import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './copyable.tsx'
import type { Records } from './records.ts'

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

/** Nothing was found in what was read, which is not all: of a list with a filter. */
export const NoneYet = ({ list }: { list: Pick<Records<unknown>, 'readMore' | 'isReading'> }) => (
  <Empty
    title="Nothing among those looked at so far"
    action={
      <Button isDisabled={list.isReading} onPress={list.readMore}>
        Look further
      </Button>
    }
  >
    There are more.
  </Empty>
)
