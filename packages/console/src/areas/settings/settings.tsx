import { LoquatError } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Check, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useApp, useAppId } from '../../shared/manage.ts'
import { Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'
import { DeleteApp, useAppChanged } from '../apps/delete.tsx'
import { GROUPS, TEXTS } from './catalogue.ts'

type Values = Record<string, boolean | number | string>

export function Settings() {
  const { appId, app, role } = useApp()
  const settings = useQuery({
    queryKey: appKey(appId, 'settings'),
    queryFn: () => manage.settings.get(appId),
  })
  return (
    <Page title="Settings" description="These settings take effect immediately for the whole app.">
      <div className="stack">
        {app.data && <Rename name={app.data.name} />}
        <Problem error={settings.error} retry={settings.refetch} />
        {settings.isPending && <Skeleton />}
        {settings.data &&
          GROUPS.map(({ title, about, prefix }) => (
            <Group
              key={prefix}
              title={title}
              about={about}
              values={withPrefix(settings.data, prefix)}
            />
          ))}
        {role === 'owner' && <DeleteApp />}
      </div>
    </Page>
  )
}

const withPrefix = (values: Values, prefix: string): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name.startsWith(prefix)))

function Rename({ name: before }: { name: string }) {
  const appId = useAppId()
  const changed = useAppChanged()
  const [name, setName] = useState(before)
  const rename = useMutation({
    mutationFn: () => manage.apps.update(appId, { name }),
    onSuccess: async () => {
      await changed()
      toast(`Renamed the app to ${name}`)
    },
  })
  return (
    <Panel title="Name">
      <Form mutation={rename} submit="Rename" ready={name.trim() !== '' && name !== before}>
        <Field label="App name" value={name} onChange={setName} maxLength={100} />
      </Form>
    </Panel>
  )
}

/** Settings that are saved together. Sends only those that changed. */
function Group({ title, about, values }: { title: string; about: string; values: Values }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Record<string, boolean | string>>({})
  const changes = Object.entries(draft).filter(
    ([name, value]) => String(values[name]) !== String(value),
  )
  const done = async (text: string) => {
    await queries.invalidateQueries({ queryKey: appKey(appId, 'settings') })
    setDraft({})
    toast(text)
  }
  const save = useMutation({
    mutationFn: async () => {
      // A setting left empty goes back to its default.
      const emptied = changes.filter(([, value]) => value === '').map(([name]) => name)
      const given = changes
        .filter(([, value]) => value !== '')
        .map(([name, value]) => [name, typeof values[name] === 'number' ? Number(value) : value])
      if (emptied.length > 0) await manage.settings.reset(appId, { settings: emptied })
      if (given.length === 0) return
      const outcomes = await manage.settings.set(appId, { settings: Object.fromEntries(given) })
      for (const { error } of Object.values(outcomes)) if (error) throw new LoquatError(error)
    },
    onSuccess: () => done('Settings saved'),
  })
  return (
    <Panel title={title} about={about}>
      <Form
        mutation={save}
        submit="Save"
        ready={changes.length > 0}
        beside={
          <ConfirmByName
            what="Reset to defaults"
            name={title}
            about="All settings in this panel go back to their defaults immediately."
            trigger={<Button look="quiet">Reset to defaults</Button>}
            act={async () => {
              await manage.settings.reset(appId, { settings: Object.keys(values) })
              await done('Settings reset to defaults')
            }}
          />
        }
      >
        {Object.entries(values).map(([name, value]) => (
          <Setting
            key={name}
            name={name}
            isNumber={typeof value === 'number'}
            value={draft[name] ?? value}
            onChange={(changed) => setDraft({ ...draft, [name]: changed })}
          />
        ))}
      </Form>
    </Panel>
  )
}

function Setting(props: {
  name: string
  isNumber: boolean
  value: boolean | number | string
  onChange: (value: boolean | string) => void
}) {
  const { name, isNumber, value, onChange } = props
  const { label = name, ...hint } = TEXTS[name] ?? {}
  if (typeof value === 'boolean') {
    return <Check label={label} checked={value} onChange={onChange} {...hint} />
  }
  return (
    <Field
      label={label}
      type={isNumber ? 'number' : 'text'}
      required={isNumber}
      value={String(value)}
      onChange={onChange}
      {...hint}
    />
  )
}
