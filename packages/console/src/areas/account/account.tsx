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

/** The own account, and what keeps it safe. */
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
        <Totp on={operator.totp} />
        <Sessions />
        <Keys />
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
      toast('Saved your name')
    },
  })
  return (
    <Panel title="Name" about="What your team sees.">
      <Form sends={save} submit="Save" ready={name.trim() !== '' && name !== before}>
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
      toast(`Changed your password; all other sessions ${endKeys ? 'and all keys ' : ''}have ended`)
    },
  })
  return (
    <Panel title="Password" about="A new one ends all other sessions.">
      <Form sends={change} submit="Change password">
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={setCurrent}
        />
        <NewPassword label="New password" value={password} onChange={setPassword} />
        <Check
          label="Delete my keys for programs too"
          hint="If somebody else may have known the password."
          checked={endKeys}
          onChange={setEndKeys}
        />
      </Form>
    </Panel>
  )
}
