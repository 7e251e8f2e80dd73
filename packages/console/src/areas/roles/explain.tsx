/** Why a user may or may not do something: all rules, and the one that decided. */
import type { Explanation, RuleApplied } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Dialog } from '../../shared/dialog.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Status } from '../../shared/status.tsx'
import { ACTIONS } from './actions.ts'
import { wordFor } from './words.ts'
import './roles.css'

const LAYERS: Record<RuleApplied['layer'], string> = {
  restriction: "Restricted features of the user's role",
  role: "Permissions of the user's role",
  scope: "Permissions of the user's scope in the group",
  'built-in': 'Built-in rules',
}

/** A dialog that asks about a user. */
export const Explain = ({ trigger, uid }: { trigger: ReactElement; uid?: string }) => (
  <Dialog wide title="Why can't a user…?" trigger={trigger}>
    {() => <ExplainForm {...(uid !== undefined && { uid })} />}
  </Dialog>
)

function ExplainForm({ uid: given }: { uid?: string }) {
  const { permissions } = manage.app(useAppId())
  const [uid, setUid] = useState(given ?? '')
  const [action, setAction] = useState('sendMessage')
  const [guid, setGuid] = useState('')
  const [receiver, setReceiver] = useState('')
  const ask = useMutation({
    mutationFn: () =>
      permissions.explain({
        ...{ uid, action },
        ...(guid && { guid }),
        ...(receiver && { receiver }),
      }),
  })
  return (
    <div className="stack">
      <Form mutation={ask} submit="Explain">
        {given === undefined && (
          <Field label="User" hint="A UID." mono value={uid} onChange={setUid} autoFocus />
        )}
        <Choice label="Wants to" value={action} options={ACTIONS} onChange={setAction} />
        <Field
          label="Group"
          hint="A GUID, if the action is about a group."
          mono
          required={false}
          value={guid}
          onChange={setGuid}
        />
        <Field
          label="Other user"
          hint="A UID, if the action is about another user: the receiver, the member, or a user in a list."
          mono
          required={false}
          value={receiver}
          onChange={setReceiver}
        />
      </Form>
      {ask.data && <Answer explanation={ask.data} />}
    </div>
  )
}

function Answer({ explanation }: { explanation: Explanation }) {
  const { allowed, role, scope, chain, decidedBy } = explanation
  return (
    <section className="stack" aria-live="polite">
      <p>
        <Status tone={allowed ? 'good' : 'bad'}>{allowed ? 'Allowed' : 'Denied'}</Status> Role{' '}
        <code>{role}</code>
        {scope && (
          <>
            , scope <code>{scope}</code>
          </>
        )}
      </p>
      <ol className="chain">
        {chain.map((rule) => (
          <Rule
            key={`${rule.layer} ${rule.rule}`}
            rule={rule}
            decided={rule.layer === decidedBy?.layer && rule.rule === decidedBy.rule}
          />
        ))}
      </ol>
    </section>
  )
}

const Rule = ({ rule, decided }: { rule: RuleApplied; decided: boolean }) => (
  <li className={decided ? 'decided' : ''}>
    <Status tone={rule.allows ? 'plain' : 'bad'}>{rule.allows ? 'Allows' : 'Denies'}</Status>
    <span>
      <code>{rule.rule}</code> {shownValue(rule)}
    </span>
    <small>
      {LAYERS[rule.layer]}
      {rule.layer === 'built-in' ? '' : rule.explicit ? ', set' : ', default'}
      {decided && !rule.allows ? '. This rule decided.' : ''}
    </small>
  </li>
)

function shownValue({ layer, value }: RuleApplied): string {
  if (typeof value !== 'string') return value.length > 0 ? value.join(', ') : 'No limit'
  // The message of a refusal is a sentence.
  return layer === 'built-in' ? value : wordFor(value)
}
