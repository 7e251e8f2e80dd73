/** A list of one kind of parts, with forms to add and change them. */
import type { ReactNode } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Panel } from '../../shared/page.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'

export interface Part {
  id: string
  name: string
  about: ReactNode
}

export function Parts<T>(props: {
  title: string
  about: string
  /** As in "Add API tool". */
  what: string
  parts: T[]
  show: (part: T) => Part
  remove: (id: string) => Promise<unknown>
  form: (part: T | undefined, onDone: () => void) => ReactNode
}) {
  const { title, about, what, parts, show, remove, form } = props
  const changed = useAgentsChanged()
  return (
    <Panel title={title} about={about}>
      {parts.length > 0 && (
        <ul className="parts">
          {parts.map((part) => {
            const { id, name, about: text } = show(part)
            return (
              <li key={id}>
                <div>
                  <strong dir="auto">{name}</strong> <code>{id}</code>
                  <p className="soft">{text}</p>
                </div>
                <span className="row">
                  <Dialog wide title={`Edit ${name}`} trigger={<Button>Edit</Button>}>
                    {(close) => form(part, close)}
                  </Dialog>
                  <ConfirmByName
                    what={`Delete ${what}`}
                    name={name}
                    about="Agents that use it go on without it."
                    trigger={<Button look="danger">Delete</Button>}
                    act={async () => {
                      await remove(id)
                      await changed()
                      toast(`Deleted ${name}`)
                    }}
                  />
                </span>
              </li>
            )
          })}
        </ul>
      )}
      <Dialog wide title={`Add ${what}`} trigger={<Button icon="plus">{`Add ${what}`}</Button>}>
        {(close) => form(undefined, close)}
      </Dialog>
    </Panel>
  )
}
