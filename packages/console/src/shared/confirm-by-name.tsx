import { useMutation } from '@tanstack/react-query'
import { type ReactElement, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field, Form } from './form.tsx'
import { typable } from './texts.ts'

interface ConfirmProps {
  /** The action, as the button names it: `Delete user`. */
  what: string
  name: string
  about: ReactNode
  /** Performs the action. The dialog shows its error. */
  act: () => Promise<unknown>
}

/** Asks the operator to type the name before an action that can't be undone or locks someone out. */
export function ConfirmByName({ trigger, ...props }: ConfirmProps & { trigger?: ReactElement }) {
  return (
    <Dialog title={props.what} trigger={trigger ?? <Button look="danger">{props.what}</Button>}>
      {(close) => <Confirm {...props} close={close} />}
    </Dialog>
  )
}

function Confirm({ what, name, about, act, close }: ConfirmProps & { close: () => void }) {
  const [typed, setTyped] = useState('')
  // Users choose their own names, which may have no character that can be typed.
  const expected = typable(name) || what
  const mutation = useMutation({ mutationFn: act, onSuccess: close })
  return (
    <Form
      mutation={mutation}
      submit={what}
      look="danger main"
      ready={typable(typed) === expected}
      beside={<Button onPress={close}>Cancel</Button>}
    >
      <p>{about}</p>
      <Field
        label={`Type “${expected}” to confirm`}
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        autoFocus
      />
    </Form>
  )
}
