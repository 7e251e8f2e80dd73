import type { NewRulePreview, RulePreview, RulePreviewSample } from '@loquat/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Choice } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { Status, type Tone } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'

const PERIODS = { week: 'Last 7 days', month: 'Last 30 days', year: 'Last year' }
const DAYS = { week: 7, month: 30, year: 365 }
/** The most that the service checks, the newest ones first. */
const LIMIT = 1_000_000
const REFRESH_MS = 1_000

const EFFECTS: Record<RulePreviewSample['effect'], { label: string; tone: Tone }> = {
  newlyBlocked: { label: 'Newly blocked', tone: 'bad' },
  stillBlocked: { label: 'Blocked already', tone: 'warn' },
  noLongerBlocked: { label: 'No longer blocked', tone: 'good' },
}

const isUnderWay = ({ state }: RulePreview) => state === 'waiting' || state === 'running'

/** Runs a rule over the messages of the app before it is saved, and shows what it would have blocked. */
export function Preview({ rule }: { rule: NewRulePreview['rule'] }) {
  const appId = useAppId()
  const { rulePreviews } = manage.app(appId)
  const [period, setPeriod] = useState<keyof typeof PERIODS>('week')
  const [id, setId] = useState<string>()
  const start = useMutation({
    mutationFn: () => {
      const from = Math.floor(Date.now() / 1000) - DAYS[period] * 86_400
      return rulePreviews.create({ rule, from, limit: LIMIT })
    },
    onSuccess: (preview) => setId(preview.id),
  })
  const preview = useQuery({
    queryKey: appKey(appId, 'moderation', 'preview', id),
    queryFn: () => rulePreviews.get(id ?? ''),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && !isUnderWay(data) ? false : REFRESH_MS),
  })
  const cancel = useMutation({
    mutationFn: () => rulePreviews.cancel(id ?? ''),
    onSuccess: () => preview.refetch(),
  })
  const shown = preview.data
  const busy = start.isPending || (id !== undefined && (!shown || isUnderWay(shown)))
  return (
    <section className="panel stack preview" aria-label="Preview on history">
      <Choice
        label="Preview on history"
        value={period}
        options={PERIODS}
        onChange={setPeriod}
        hint="Counts the messages that this rule would have blocked. Nothing is changed."
      />
      <div className="row">
        <Button isDisabled={busy || rule.conditions?.length === 0} onPress={() => start.mutate()}>
          {shown ? 'Run again' : 'Run preview'}
        </Button>
        {shown && isUnderWay(shown) && <Button onPress={() => cancel.mutate()}>Cancel</Button>}
      </div>
      <Problem error={start.error ?? preview.error ?? cancel.error} />
      {shown && <Found preview={shown} />}
    </section>
  )
}

function Found({ preview }: { preview: RulePreview }) {
  const { state, progress, checked, blocked, newlyBlocked, noLongerBlocked, samples = [] } = preview
  const label = useId()
  const number = (count: number) => count.toLocaleString('en')
  return (
    <>
      {isUnderWay(preview) && (
        <div className="preview-progress">
          <span id={label}>{state === 'waiting' ? 'Waiting to start' : 'Checking messages'}</span>
          <progress aria-labelledby={label} value={progress} max={1}>
            {`${Math.round(progress * 100)} %`}
          </progress>
        </div>
      )}
      <p aria-live="polite">
        {state === 'failed' && <Status tone="bad">Failed</Status>}
        {state === 'cancelled' && <Status>Cancelled</Status>} {number(checked)} messages checked.{' '}
        <strong>{number(blocked)} would have been blocked</strong>: {number(newlyBlocked)} newly,{' '}
        {number(blocked - newlyBlocked)} already.
        {noLongerBlocked > 0 && ` ${number(noLongerBlocked)} would no longer be blocked.`}
        {state === 'done' && !preview.complete && ' Older messages were not checked.'}
      </p>
      {samples.length > 0 && (
        <ul className="preview-samples" aria-label="Samples">
          {samples.map(({ effect, found, message }) => (
            <li key={message.id}>
              <span className="row">
                <Status tone={EFFECTS[effect].tone}>{EFFECTS[effect].label}</Status>
                <span className="soft">
                  <span dir="auto">{message.sender}</span> · <Time at={message.sentAt} />
                </span>
              </span>
              <span dir="auto">{textOf(message.data)}</span>
              {found && (
                <span className="soft">
                  found <mark dir="auto">{found}</mark>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The text or caption, or the data of a custom message. */
function textOf(data: RulePreviewSample['message']['data']): string {
  const { text, customData, interactiveData } = data as Record<string, unknown>
  return typeof text === 'string' ? text : JSON.stringify(customData ?? interactiveData ?? '')
}
