/** How emails look, with a preview while the operator types. */
import type { NotificationSettings } from '@loquat/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { type Draft, useSaveSettings, useSettings, valueAt } from './settings.ts'

const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
}
const WIDTHS = { wide: 'Desktop', narrow: 'Phone' }

export function EmailDesign() {
  const settings = useSettings()
  if (!settings.data) {
    return settings.error ? (
      <Problem error={settings.error} retry={settings.refetch} />
    ) : (
      <Skeleton />
    )
  }
  return <Design settings={settings.data} />
}

function Design({ settings }: { settings: NotificationSettings }) {
  const [draft, setDraft] = useState<Draft>({})
  const { save, ready } = useSaveSettings(settings, draft, () => setDraft({}))
  const bind = (name: string) => {
    const path = `emailDesign.${name}`
    return {
      value: String(draft[path] ?? valueAt(settings, path)),
      onChange: (value: string) => setDraft({ ...draft, [path]: value }),
    }
  }
  const design = {
    ...settings.emailDesign,
    ...Object.fromEntries(
      Object.entries(draft).map(([path, value]) => [path.split('.')[1], value]),
    ),
  }
  return (
    <div className="email-design">
      <Panel title="Design" about="For emails about unread messages. Templates has their subjects.">
        <Form mutation={save} submit="Save" ready={ready}>
          <Field
            label="Name"
            hint="Your product's name. Empty: the sender's name."
            required={false}
            {...bind('appName')}
          />
          <Field
            label="Logo"
            hint="An https:// URL. It is shown 32 pixels high instead of the name."
            mono
            required={false}
            {...bind('logoUrl')}
          />
          <Field label="Color of the button" type="color" {...bind('accentColor')} />
          <Field
            label="Link of the button"
            hint="A page of yours. {{type}}, {{id}}, {{conversationId}} and {{messageId}} are filled in. Empty: no button."
            mono
            required={false}
            {...bind('openUrl')}
          />
          <Choice
            label="Language"
            options={LANGUAGES}
            value={bind('language').value as keyof typeof LANGUAGES}
            onChange={bind('language').onChange}
          />
          <TextArea
            label="Footer"
            hint="Such as your postal address."
            rows={3}
            {...bind('footer')}
          />
        </Form>
      </Panel>
      <Preview design={design} />
    </div>
  )
}

function Preview({ design }: { design: NotificationSettings['emailDesign'] }) {
  const appId = useAppId()
  const emailDesign = useDeferredValue(design)
  const [width, setWidth] = useState<keyof typeof WIDTHS>('wide')
  const preview = useQuery({
    queryKey: appKey(appId, 'notifications', 'email-preview', emailDesign),
    queryFn: () => manage.app(appId).notificationSettings.preview({ emailDesign }),
    placeholderData: keepPreviousData,
  })
  return (
    <Panel title="Preview" about="A sample. Mail programs in dark mode show it dark.">
      <div className="stack">
        <Problem error={preview.error} retry={preview.refetch} />
        <Choice label="Width" options={WIDTHS} value={width} onChange={setWidth} />
        {preview.data && (
          <>
            <p className="email-subject" dir="auto">
              <small className="soft">Subject</small> {preview.data.subject}
            </p>
            <EmailFrame html={preview.data.html} narrow={width === 'narrow'} />
          </>
        )}
      </div>
    </Panel>
  )
}

/**
 * Shows an email in a frame of its own origin, which runs nothing and allows the email's styles. The frame's page comes
 * from the api; it takes the email as a message and answers with its height.
 */
function EmailFrame({ html, narrow }: { html: string; narrow: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(400)
  const show = () => frame.current?.contentWindow?.postMessage(html, '*')
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent) => {
      if (source === frame.current?.contentWindow && typeof data === 'number') setHeight(data)
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new email or width is shown again
  useEffect(show, [html, narrow])
  return (
    <iframe
      ref={frame}
      title="Email"
      className={narrow ? 'email-frame narrow' : 'email-frame'}
      src="email-frame"
      sandbox="allow-scripts"
      style={{ blockSize: height }}
      onLoad={show}
    />
  )
}
