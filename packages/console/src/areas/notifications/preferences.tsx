/** What the app's users are notified of, and what of it they can change. */
import type { NotificationSettings } from '@loquat/sdk'
import { Fragment, useState } from 'react'
import { Check, Choice, Field, Form } from '../../shared/form.tsx'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { type Draft, useSaveSettings, useSettings, type Value, valueAt } from './settings.ts'

const MESSAGES = { 1: 'None', 2: 'All', 3: 'Only with a mention' }
const REACTIONS = { 1: 'None', 2: 'To own messages', 3: 'To all messages' }
const SWITCH = { 1: 'Off', 2: 'On' }
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

interface Item {
  /** `<name>Setting` and, if users may have a choice, `<name>Override`. */
  name: string
  label: string
  options: Record<number, string>
  fixed?: boolean
}

const CONVERSATION: Item[] = [
  { name: 'messages', label: 'Messages', options: MESSAGES },
  { name: 'replies', label: 'Replies in threads', options: MESSAGES },
  { name: 'reactions', label: 'Reactions', options: REACTIONS },
  { name: 'messageEdited', label: 'Edited messages', options: SWITCH, fixed: true },
  { name: 'messageDeleted', label: 'Deleted messages', options: SWITCH, fixed: true },
]
const MEMBERS: Item[] = [
  ['memberJoined', 'Joined'],
  ['memberLeft', 'Left'],
  ['memberAdded', 'Added'],
  ['memberKicked', 'Removed'],
  ['memberBanned', 'Banned'],
  ['memberUnbanned', 'Unbanned'],
  ['memberScopeChanged', 'Scope changed'],
].map(([name = '', label = '']) => ({ name, label, options: SWITCH }))

const PUSH: [name: string, label: string, hint?: string][] = [
  ['unreadMessageCountSetting', 'Number of unread messages', 'For the badge of the app.'],
  ['includeMessageObjectSetting', 'The message itself', 'In the payload, for your app.'],
  ['includeSenderMetadataSetting', 'With metadata of the sender'],
  ['includeReceiverMetadataSetting', 'With metadata of the receiver'],
  ['includeMessageMetadataSetting', 'With metadata of the message'],
  ['trimTextFieldSetting', 'Shorten a long text', 'A payload has at most 4 KB.'],
]
const BATCHES: [name: string, label: string][] = [
  ['intervalInSeconds', 'Seconds between two'],
  ['maxPerDay', 'Per user and day, at most'],
  ['maxPerDayPerConversation', 'Per conversation and day, at most'],
]

export function Preferences() {
  const settings = useSettings()
  if (!settings.data) {
    return settings.error ? (
      <Problem error={settings.error} retry={settings.refetch} />
    ) : (
      <Skeleton />
    )
  }
  const of = settings.data
  return (
    <div className="stack">
      <Section settings={of} title="Groups" part="group" items={CONVERSATION} />
      <Section settings={of} title="1:1 conversations" part="oneOnOne" items={CONVERSATION} />
      <Section settings={of} title="Changes of members" part="group" items={MEMBERS} />
      <Quiet settings={of} />
      <Contents settings={of} />
      <Batches settings={of} />
    </div>
  )
}

interface PartProps {
  settings: NotificationSettings
}

/** The values of a form, and how they are changed and saved. */
function useDraft(settings: NotificationSettings) {
  const [draft, setDraft] = useState<Draft>({})
  const at = (path: string) => draft[path] ?? valueAt(settings, path) ?? ''
  const set = (path: string, value: Value) => setDraft((before) => ({ ...before, [path]: value }))
  return { at, set, ...useSaveSettings(settings, draft, () => setDraft({})) }
}

function Section(props: PartProps & { title: string; part: string; items: Item[] }) {
  const { settings, title, part, items } = props
  const { at, set, save, ready } = useDraft(settings)
  return (
    <Panel title={title}>
      <Form mutation={save} submit="Save" ready={ready}>
        {items.map(({ name, label, options, fixed }) => (
          <Preference
            key={name}
            label={label}
            path={`preferences.${part}.${name}`}
            options={options}
            {...{ at, set, fixed }}
          />
        ))}
      </Form>
    </Panel>
  )
}

function Preference(props: {
  label: string
  path: string
  options: Record<number, string>
  fixed: boolean | undefined
  at: (path: string) => Value
  set: (path: string, value: Value) => void
}) {
  const { label, path, options, fixed, at, set } = props
  return (
    <div className="preference">
      <Choice
        label={label}
        value={String(at(`${path}Setting`))}
        options={options as Record<string, string>}
        onChange={(value) => set(`${path}Setting`, Number(value))}
      />
      {!fixed && (
        <Check
          label="Users can change it"
          checked={at(`${path}Override`) === true}
          onChange={(checked) => set(`${path}Override`, checked)}
        />
      )}
    </div>
  )
}

function Quiet({ settings }: PartProps) {
  const { at, set, save, ready } = useDraft(settings)
  const mute = 'preferences.mute'
  const flag = (path: string, label: string, hint?: string) => (
    <Check
      label={label}
      checked={at(path) === true}
      onChange={(checked) => set(path, checked)}
      {...(hint && { hint })}
    />
  )
  return (
    <Panel
      title="Quiet times"
      about="In these hours, in the user's time zone, notifications may arrive."
    >
      <Form mutation={save} submit="Save" ready={ready}>
        <div className="week">
          <span className="head">Day</span>
          <span className="head">From</span>
          <span className="head">To</span>
          <span className="head" />
          {DAYS.map((day) => (
            <DayHours
              key={day}
              day={day}
              path={`${mute}.schedulePreferenceSetting.${day}`}
              {...{ at, set }}
            />
          ))}
        </div>
        {flag(`${mute}.schedulePreferenceOverride`, 'Users can choose their own hours')}
        {flag(
          `${mute}.holdPreferenceSetting`,
          'Hold what comes outside these hours',
          'It arrives as one notification when the hours begin. Otherwise it is dropped.',
        )}
        {flag(`${mute}.holdPreferenceOverride`, 'Users can choose whether it is held')}
        <Preference
          label="Do not disturb"
          path={`${mute}.dndPreference`}
          options={SWITCH}
          fixed={false}
          {...{ at, set }}
        />
        {flag(`${mute}.mutedGroupsOverride`, 'Users can mute groups')}
        {flag(`${mute}.mutedOneOnOnesOverride`, 'Users can mute 1:1 conversations')}
        {flag(
          'preferences.bypassPreferencesForMentions',
          'Mentions always arrive',
          'Also in quiet hours, do not disturb and muted conversations.',
        )}
      </Form>
    </Panel>
  )
}

const clock = (value: Value) => {
  const digits = String(value).padStart(4, '0')
  return `${digits.slice(0, 2)}:${digits.slice(2)}`
}

function DayHours(props: {
  day: string
  path: string
  at: (path: string) => Value
  set: (path: string, value: Value) => void
}) {
  const { day, path, at, set } = props
  const name = `${day[0]?.toUpperCase()}${day.slice(1)}`
  return (
    <Fragment>
      <span className="day">{name}</span>
      {['from', 'to'].map((end) => (
        <input
          key={end}
          className="input"
          type="time"
          aria-label={`${name}, ${end}`}
          required
          disabled={at(`${path}.dnd`) === true}
          value={clock(at(`${path}.${end}`))}
          onChange={({ target }) =>
            target.value && set(`${path}.${end}`, Number(target.value.replace(':', '')))
          }
        />
      ))}
      <Check
        label={`Nothing on ${name}s`}
        checked={at(`${path}.dnd`) === true}
        onChange={(checked) => set(`${path}.dnd`, checked)}
      />
    </Fragment>
  )
}

function Contents({ settings }: PartProps) {
  const { at, set, save, ready } = useDraft(settings)
  return (
    <Panel title="What a push contains" about="Besides its title and text.">
      <Form mutation={save} submit="Save" ready={ready}>
        {PUSH.map(([name, label, hint]) => (
          <Check
            key={name}
            label={label}
            checked={at(`preferences.push.${name}`) === true}
            onChange={(checked) => set(`preferences.push.${name}`, checked)}
            {...(hint && { hint })}
          />
        ))}
        {(['chat', 'call'] as const).map((kind) => (
          <Field
            key={kind}
            label={kind === 'chat' ? 'Sound of messages' : 'Sound of calls'}
            hint="The name of a file in your app."
            value={String(at(`sound.${kind}`))}
            onChange={(value) => set(`sound.${kind}`, value)}
            maxLength={100}
          />
        ))}
      </Form>
    </Panel>
  )
}

function Batches({ settings }: PartProps) {
  const { at, set, save, ready } = useDraft(settings)
  return (
    <Panel
      title="Email and SMS"
      about="They are sent at intervals, about unread messages of a conversation."
    >
      <Form mutation={save} submit="Save" ready={ready}>
        {(['email', 'sms'] as const).map((channel) => (
          <fieldset key={channel} className="fields">
            <legend>{channel === 'email' ? 'Email' : 'SMS'}</legend>
            {BATCHES.map(([name, label]) => (
              <Field
                key={name}
                label={label}
                type="number"
                value={String(at(`preferences.${channel}.${name}`))}
                onChange={(value) => set(`preferences.${channel}.${name}`, Number(value))}
              />
            ))}
          </fieldset>
        ))}
      </Form>
    </Panel>
  )
}
