/** The texts of notifications, with a preview while the operator types. */
import type { NotificationSettings } from '@loquat/sdk'
import { useState } from 'react'
import { Avatar } from '../../shared/avatar.tsx'
import { Choice, Form, TextArea } from '../../shared/form.tsx'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { fill, SAMPLES, type TemplateKind } from './sample.ts'
import { type Draft, useSaveSettings, useSettings, valueAt } from './settings.ts'

const KINDS: Record<TemplateKind, string> = {
  textMessage: 'Text message',
  mediaMessage: 'Image, audio, video or file',
  customMessage: 'Custom message',
  interactiveForm: 'Form',
  interactiveCard: 'Card',
  interactiveScheduler: 'Scheduler',
  interactiveCustom: 'Other interactive message',
  emailSubject: 'Email subject',
  smsContent: 'SMS',
  heldMessages: 'After quiet hours',
}
const FORMS = { Default: 'With the text of the message', Privacy: 'Private, without the text' }
const MODES = {
  1: 'With the text, for all users',
  2: 'Private, for all users',
  3: 'With the text, but users can choose private ones',
}
const PARTS: Record<string, string> = {
  titleOneOnOne: 'Title in 1:1 conversations',
  titleGroup: 'Title in groups',
  body: 'Text',
  body_image: 'Text for an image',
  body_audio: 'Text for audio',
  body_video: 'Text for a video',
  body_file: 'Text for a file',
  body_fallback: 'Text if a placeholder is empty',
  oneOnOne: 'About a 1:1 conversation',
  group: 'About a group',
  title: 'Title',
}

export function Templates() {
  const settings = useSettings()
  const [kind, setKind] = useState<TemplateKind>('textMessage')
  const [form, setForm] = useState<keyof typeof FORMS>('Default')
  if (!settings.data) {
    return settings.error ? (
      <Problem error={settings.error} retry={settings.refetch} />
    ) : (
      <Skeleton />
    )
  }
  return (
    <div className="stack">
      <Mode settings={settings.data} />
      <Panel
        title="Texts"
        about="{{message.data.text}} and the like name a field of the message. One without a value stays empty."
      >
        <div className="stack">
          <div className="template-choice">
            <Choice label="Template" value={kind} options={KINDS} onChange={setKind} />
            {kind !== 'heldMessages' && (
              <Choice label="Form" value={form} options={FORMS} onChange={setForm} />
            )}
          </div>
          <Template
            key={`${kind}${form}`}
            settings={settings.data}
            kind={kind}
            name={kind === 'heldMessages' ? `${kind}Template` : `${kind}Template${form}`}
          />
        </div>
      </Panel>
    </div>
  )
}

function Mode({ settings }: { settings: NotificationSettings }) {
  const path = 'templates.usePrivacyTemplate'
  const [draft, setDraft] = useState<Draft>({})
  const { save, ready } = useSaveSettings(settings, draft, () => setDraft({}))
  return (
    <Panel title="Privacy" about="Whether notifications show what was written.">
      <Form mutation={save} submit="Save" ready={ready}>
        <Choice
          label="Which texts are used"
          value={String(draft[path] ?? valueAt(settings, path))}
          options={MODES as Record<string, string>}
          onChange={(mode) => setDraft({ [path]: Number(mode) })}
        />
      </Form>
    </Panel>
  )
}

function Template(props: { settings: NotificationSettings; kind: TemplateKind; name: string }) {
  const { settings, kind, name } = props
  const [draft, setDraft] = useState<Draft>({})
  const { save, ready } = useSaveSettings(settings, draft, () => setDraft({}))
  const parts = Object.keys(valueAt(settings, `templates.${name}`) ?? {})
  const at = (part: string) =>
    String(draft[`templates.${name}.${part}`] ?? valueAt(settings, `templates.${name}.${part}`))
  return (
    <div className="template">
      <Form mutation={save} submit="Save" ready={ready}>
        {parts.map((part) => (
          <TextArea
            key={part}
            label={PARTS[part] ?? part}
            mono
            rows={2}
            value={at(part)}
            onChange={(text) => setDraft({ ...draft, [`templates.${name}.${part}`]: text })}
          />
        ))}
      </Form>
      <section className="previews" aria-label="Preview" aria-live="polite">
        {previewsOf(kind, at).map(({ title, body, label }) => (
          <div key={label} className="stack">
            <small className="soft">{label}</small>
            <div className="shown-notification">
              <Avatar id="u2" name="Ben Okafor" />
              <strong dir="auto">{title}</strong>
              <p dir="auto">{body}</p>
            </div>
          </div>
        ))}
      </section>
    </div>
  )
}

/** What users would see: one notification for each title or text. */
function previewsOf(kind: TemplateKind, at: (part: string) => string) {
  const sample = SAMPLES[kind]
  if (kind === 'emailSubject' || kind === 'smsContent') {
    const { groupDetails: _group, ...direct } = sample
    return [
      { label: '1:1', title: fill(at('oneOnOne'), direct).text, body: '' },
      { label: 'Group', title: fill(at('group'), sample).text, body: '' },
    ]
  }
  if (kind === 'heldMessages') {
    const body = fill(at('body'), sample).text
    return [{ label: 'One for all', title: fill(at('title'), sample).text, body }]
  }
  const body = bodyOf(kind, at, sample)
  return [
    { label: '1:1', title: fill(at('titleOneOnOne'), sample).text, body },
    { label: 'Group', title: fill(at('titleGroup'), sample).text, body },
  ]
}

function bodyOf(kind: TemplateKind, at: (part: string) => string, sample: object): string {
  if (kind === 'mediaMessage') return fill(at('body_image'), sample).text
  const { text, complete } = fill(at('body'), sample)
  return complete || kind !== 'customMessage' ? text : fill(at('body_fallback'), sample).text
}
