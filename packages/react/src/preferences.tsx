'use client'
import type { UpdateNotificationPreferencesBody } from '@loquat/sdk/client'
import { useState } from 'react'
import { useChat } from './chat.tsx'
import { usePreferences } from './hooks/preferences.ts'
import { usePush } from './hooks/push.ts'
import { Pane } from './pane.tsx'
import { Missing } from './problem.tsx'

export interface PreferencesProps {
  onClose: () => void
  /** The URL of the service worker that shows push notifications. Without it, there is no switch for this browser. */
  worker?: string | undefined
}

/** Of what the user is notified, and whether this browser shows it. */
export function Preferences({ onClose, worker }: PreferencesProps) {
  const { strings } = useChat()
  const { preferences, change } = usePreferences()
  const [problem, setProblem] = useState('')
  const save = (changed: UpdateNotificationPreferencesBody) => {
    setProblem('')
    change(changed).catch(({ message }: Error) => setProblem(message))
  }
  const { group, oneOnOne, mute } = preferences ?? {}
  return (
    <Pane title={strings.notifications} onClose={onClose}>
      <div className="lq-settings">
        {problem && (
          <p className="lq-failed" role="alert">
            {problem}
          </p>
        )}
        {!preferences && <Missing value={preferences} />}
        {worker !== undefined && <PushSwitch worker={worker} onProblem={setProblem} />}
        {mute && (
          <Switch
            label={strings.doNotDisturb}
            hint={strings.doNotDisturbHint}
            isOn={mute.dndPreferenceSetting === 2}
            isDisabled={!mute.dndPreferenceOverride}
            onChange={(isOn) => save({ mutePreferences: { dnd: isOn ? 2 : 1 } })}
          />
        )}
        {oneOnOne && (
          <fieldset>
            <legend>{strings.directMessages}</legend>
            <Choice
              label={strings.messages}
              value={oneOnOne.messagesSetting}
              isDisabled={!oneOnOne.messagesOverride}
              texts={strings.amounts}
              onChange={(chosen) => save({ oneOnOnePreferences: { oneOnOneMessages: chosen } })}
            />
            <Choice
              label={strings.reactionsTo}
              value={oneOnOne.reactionsSetting}
              isDisabled={!oneOnOne.reactionsOverride}
              texts={strings.reactionAmounts}
              onChange={(chosen) => save({ oneOnOnePreferences: { oneOnOneReactions: chosen } })}
            />
          </fieldset>
        )}
        {group && (
          <fieldset>
            <legend>{strings.groups}</legend>
            <Choice
              label={strings.messages}
              value={group.messagesSetting}
              isDisabled={!group.messagesOverride}
              texts={strings.amounts}
              onChange={(chosen) => save({ groupPreferences: { groupMessages: chosen } })}
            />
            <Choice
              label={strings.repliesTo}
              value={group.repliesSetting}
              isDisabled={!group.repliesOverride}
              texts={strings.amounts}
              onChange={(chosen) => save({ groupPreferences: { groupReplies: chosen } })}
            />
            <Choice
              label={strings.reactionsTo}
              value={group.reactionsSetting}
              isDisabled={!group.reactionsOverride}
              texts={strings.reactionAmounts}
              onChange={(chosen) => save({ groupPreferences: { groupReactions: chosen } })}
            />
          </fieldset>
        )}
      </div>
    </Pane>
  )
}

function PushSwitch(props: { worker: string; onProblem: (problem: string) => void }) {
  const { strings } = useChat()
  const { state, change } = usePush(props.worker)
  if (state === 'unsupported') return null
  return (
    <Switch
      label={strings.notifyHere}
      hint={state === 'blocked' ? strings.notifyBlocked : strings.notifyHereHint}
      isOn={state === 'on'}
      isDisabled={state === 'blocked'}
      onChange={(isOn) => {
        props.onProblem('')
        change(isOn).catch(({ message }: Error) => props.onProblem(message))
      }}
    />
  )
}

interface SwitchProps {
  label: string
  hint: string
  isOn: boolean
  isDisabled?: boolean
  onChange: (isOn: boolean) => void
}

const Switch = ({ label, hint, isOn, isDisabled = false, onChange }: SwitchProps) => (
  <label className="lq-switch">
    <span className="lq-person-main">
      {label}
      <small>{hint}</small>
    </span>
    <input
      type="checkbox"
      role="switch"
      aria-checked={isOn}
      checked={isOn}
      disabled={isDisabled}
      onChange={({ target }) => onChange(target.checked)}
    />
  </label>
)

type Level = 1 | 2 | 3

interface ChoiceProps {
  label: string
  value: Level
  isDisabled: boolean
  texts: Record<Level, string>
  onChange: (level: Level) => void
}

const Choice = ({ label, value, isDisabled, texts, onChange }: ChoiceProps) => (
  <label className="lq-choice">
    {label}
    <select
      disabled={isDisabled}
      value={value}
      onChange={({ target }) => onChange(Number(target.value) as Level)}
    >
      {([2, 3, 1] as const).map((level) => (
        <option key={level} value={level}>
          {texts[level]}
        </option>
      ))}
    </select>
  </label>
)
