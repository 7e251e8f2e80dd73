/** The permissions of a role, or of a scope in a group. */
import {
  LoquatError,
  type Page,
  type Permission,
  type PermissionValues,
  type UpdateRolePermissionsAnswer,
} from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Check, Choice, Field, Form } from '../../shared/form.tsx'
import { listOf } from '../../shared/lists.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { toast } from '../../shared/toasts.tsx'
import { wordFor } from './words.ts'
import './roles.css'

type Value = Permission['defaultValue']
type Outcome = Exclude<UpdateRolePermissionsAnswer[string], PermissionValues>

/** Where permissions are stored. */
export interface PermissionStore {
  queryKey: unknown[]
  list: () => Promise<Page<Permission>>
  update: (permissions: Record<string, Value>) => Promise<UpdateRolePermissionsAnswer>
  reset: (id: string) => Promise<unknown>
}

/** The panels, each with the first words of its permissions. */
const PANELS: [title: string, actions: string[]][] = [
  ['Users', ['listUsers', 'getUserDetails']],
  ['Sending messages', ['sendMessage', 'sendThreadedMessage']],
  ['Changing messages', ['editMessage', 'deleteMessage']],
  ['Reading messages', ['listMessages', 'addReaction', 'listReactions']],
  ['Groups', ['createGroup', 'listGroups', 'joinGroup', 'listMembers']],
  ['Calls', ['initiateCall']],
]

export function Permissions({ store }: { store: PermissionStore }) {
  const query = useQuery({ queryKey: store.queryKey, queryFn: store.list })
  if (!query.data) {
    return query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />
  }
  const all = query.data.data
  const actionOf = ({ id }: Permission) => id.split('.')[0] ?? ''
  return (
    <div className="stack">
      {PANELS.map(([title, actions]) => {
        const shown = all.filter((permission) => actions.includes(actionOf(permission)))
        return (
          shown.length > 0 && (
            <PermissionPanel key={title} title={title} store={store} permissions={shown} />
          )
        )
      })}
    </div>
  )
}

/** Permissions that are saved together. Sends only those that changed. */
function PermissionPanel(props: {
  title: string
  store: PermissionStore
  permissions: Permission[]
}) {
  const { title, store, permissions } = props
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Record<string, Value>>({})
  const changes = permissions.filter(
    (permission) => draft[permission.id] !== undefined && !isSame(permission, draft[permission.id]),
  )
  const done = async (text: string) => {
    await queries.invalidateQueries({ queryKey: store.queryKey })
    setDraft({})
    toast(text)
  }
  const save = useMutation({
    mutationFn: async () => {
      const values = Object.fromEntries(changes.map(({ id }) => [id, draft[id] ?? '']))
      const answer = await store.update(values)
      for (const { id } of changes) {
        const { error } = answer[id] as Outcome
        if (error) throw new LoquatError(error)
      }
    },
    onSuccess: () => done('Permissions saved'),
  })
  const reset = useMutation({
    mutationFn: ({ id }: Permission) => store.reset(id),
    onSuccess: (_answer, permission) => done(`${permission.title}: reset to the default`),
  })
  return (
    <Panel title={title}>
      <Form mutation={save} submit="Save" ready={changes.length > 0}>
        {permissions.map((permission) => (
          <div key={permission.id} className="permission">
            <Control
              permission={permission}
              value={draft[permission.id] ?? permission.value ?? permission.defaultValue}
              onChange={(value) => setDraft({ ...draft, [permission.id]: value })}
            />
            {permission.value !== null && (
              <div className="row">
                <Status tone="info">Changed</Status>
                <Button
                  look="quiet"
                  isDisabled={reset.isPending}
                  aria-label={`Reset ${permission.title}`}
                  onPress={() => reset.mutate(permission)}
                >
                  Reset
                </Button>
              </div>
            )}
          </div>
        ))}
        <Problem error={reset.error} />
      </Form>
    </Panel>
  )
}

const isSame = ({ value, defaultValue }: Permission, other: Value | undefined) =>
  JSON.stringify(value ?? defaultValue) === JSON.stringify(other)

function Control(props: {
  permission: Permission
  value: Value
  onChange: (value: Value) => void
}) {
  const { permission, value, onChange } = props
  const { title, description, dataType, availableValues = [], defaultValue } = permission
  const id = useId()
  if (dataType === 'string') {
    return (
      <Choice
        label={title}
        hint={`${description} Default: ${wordFor(String(defaultValue))}.`}
        value={String(value)}
        options={Object.fromEntries(availableValues.map((word) => [word, wordFor(word)]))}
        onChange={onChange}
      />
    )
  }
  const listed = typeof value === 'string' ? [value] : value
  if (dataType !== 'stringArray') {
    return (
      <ListField
        label={title}
        hint={`${description} Separate ${dataType === 'rolesStringArray' ? 'roles' : 'entries'} with commas. Default: no limit.`}
        value={listed}
        onChange={onChange}
      />
    )
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: the legend of a fieldset can't be laid out beside its options
    <div role="group" className="field" aria-labelledby={id} aria-describedby={`${id}hint`}>
      <span className="label" id={id}>
        {title}
      </span>
      <div className="words">
        {availableValues.map((word) => (
          <Check
            key={word}
            label={wordFor(word)}
            checked={listed.includes(word)}
            onChange={(checked) =>
              onChange(
                availableValues.filter((other) =>
                  other === word ? checked : listed.includes(other),
                ),
              )
            }
          />
        ))}
      </div>
      <small id={`${id}hint`}>{description} Default: none selected, which is no limit.</small>
    </div>
  )
}

/** A list as a text. What is typed stays as it is until the list changes from outside. */
function ListField(props: {
  label: string
  hint: string
  value: string[]
  onChange: (value: string[]) => void
}) {
  const { label, hint, value, onChange } = props
  const [text, setText] = useState(value.join(', '))
  const shown = listOf(text).join() === value.join() ? text : value.join(', ')
  return (
    <Field
      label={label}
      hint={hint}
      mono
      required={false}
      value={shown}
      onChange={(changed) => {
        setText(changed)
        onChange(listOf(changed))
      }}
    />
  )
}
