import { useMutation } from '@tanstack/react-query'
import { type ReactElement, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field, Form } from './form.tsx'
import { typable } from './texts.ts'

interface ConfirmProps {
  /** What is done, as the button says it: `Delete user`. */
  what: string
  name: string
  about: ReactNode
  /** Does it. What goes wrong is shown in the dialog. */
  act: () => Promise<unknown>
}

/** Something that cannot be undone, or cuts somebody off: it asks for the name. */
export function ConfirmByName({ trigger, ...props }: ConfirmProps & { trigger?: ReactElement }) {
  return (
    <Dialog title={props.what} trigger={trigger ?? <Button look="danger">{props.what}</Button>}>
      {(close) => <Confirm {...props} close={close} />}
    </Dialog>
  )
}

function Confirm({ what, name, about, act, close }: ConfirmProps & { close: () => void }) {
  const [typed, setTyped] = useState('')
  // Users of an app choose their names: also such that have nothing to type.
  const asked = typable(name) || what
  const sends = useMutation({ mutationFn: act, onSuccess: close })
  return (
    <Form
      sends={sends}
      submit={what}
      look="danger main"
      ready={typable(typed) === asked}
      beside={<Button onPress={close}>Cancel</Button>}
    >
      <p>{about}</p>
      <Field
        label={`Type “${asked}” to confirm`}
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        autoFocus
      />
    </Form>
  )
}
