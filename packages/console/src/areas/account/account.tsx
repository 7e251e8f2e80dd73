import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { NewPassword } from '../../shared/account-fields.tsx'
import { Check, Field, Form } from '../../shared/form.tsx'
import { manage, useSession } from '../../shared/manage.ts'
import { Page, Panel } from '../../shared/page.tsx'
import { toast } from '../../shared/toasts.tsx'
import { Keys } from './keys.tsx'
import { Sessions } from './sessions.tsx'
import { Totp } from './totp.tsx'
import './account.css'

/** The operator's own account: name, password, two-factor authentication, sessions and operator keys. */
export function Account() {
  const operator = useSession().data?.operator
  if (!operator) return null
  return (
    <Page title="Account" description={operator.email}>
      <div className="account">
        <div className="stack">
          <Name name={operator.name} />
          <Password />
        </div>
        <div className="stack">
          <Totp on={operator.totp} />
          <Sessions />
          <Keys />
        </div>
      </div>
    </Page>
  )
}

function Name({ name: before }: { name: string }) {
  const queries = useQueryClient()
  const [name, setName] = useState(before)
  const save = useMutation({
    mutationFn: () => manage.operators.update({ name }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['session'] })
      toast('Name saved')
    },
  })
  return (
    <Panel title="Name" about="Your teammates see this name.">
      <Form mutation={save} submit="Save" ready={name.trim() !== '' && name !== before}>
        <Field label="Your name" autoComplete="name" value={name} onChange={setName} />
      </Form>
    </Panel>
  )
}

function Password() {
  const queries = useQueryClient()
  const [currentPassword, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [endKeys, setEndKeys] = useState(false)
  const change = useMutation({
    mutationFn: () => manage.operators.update({ password, currentPassword, endKeys }),
    onSuccess: async () => {
      setCurrent('')
      setPassword('')
      setEndKeys(false)
      await queries.invalidateQueries({ queryKey: ['sessions'] })
      await queries.invalidateQueries({ queryKey: ['operator-keys'] })
      toast(
        endKeys
          ? 'Password changed. Your other sessions and all operator keys no longer work.'
          : 'Password changed. Your other sessions have been signed out.',
      )
    },
  })
  return (
    <Panel title="Password" about="Changing your password signs you out everywhere else.">
      <Form mutation={change} submit="Change password">
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={setCurrent}
        />
        <NewPassword label="New password" value={password} onChange={setPassword} />
        <Check
          label="Also delete my operator keys"
          hint="Choose this if someone else might know your password."
          checked={endKeys}
          onChange={setEndKeys}
        />
      </Form>
    </Panel>
  )
}
