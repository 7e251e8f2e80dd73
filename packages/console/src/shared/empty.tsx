import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './copyable.tsx'
import type { Records } from './records.ts'

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

/** Shown if a filter matched none of the records searched so far, but there are more to search. */
export const NoMatchesYet = ({
  list,
}: {
  list: Pick<Records<unknown>, 'loadMore' | 'isLoadingMore'>
}) => (
  <Empty
    title="No matches so far"
    action={
      <Button isDisabled={list.isLoadingMore} onPress={list.loadMore}>
        Keep searching
      </Button>
    }
  >
    Only part of the list has been searched.
  </Empty>
)
