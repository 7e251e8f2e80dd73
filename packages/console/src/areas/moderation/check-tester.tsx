import type { NewRuleCondition } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { Status } from '../../shared/status.tsx'

const SERVICES = {
  'custom-api': 'Your own check',
  toxicity: 'Classifier',
  'sentence-similarity': 'Similar sentences',
  prompt: 'Chat model',
}
type Service = keyof typeof SERVICES

/** What the value of a condition is called. */
const VALUES: Record<Service, string | undefined> = {
  'custom-api': undefined,
  toxicity: 'Formula, such as insult_greaterThan_80',
  'sentence-similarity': 'Sentence',
  prompt: 'Describe what a message must not be',
}

/** Asks a service about a text, as a message would. */
export function CheckTester() {
  const appId = useAppId()
  const [category, setCategory] = useState<Service>('custom-api')
  const [value, setValue] = useState('')
  const [text, setText] = useState('')
  const label = VALUES[category]
  const condition: NewRuleCondition = { category, ...(label && { value }) }
  const test = useMutation({
    mutationFn: () => manage.app(appId).moderationChecks.test({ condition, text }),
  })
  const { data } = test
  return (
    <Panel title="Try a check" about="Sends a text to a service now. No message is sent.">
      <Form mutation={test} submit="Try" ready={text !== '' && (!label || value !== '')}>
        <Choice label="Ask" value={category} options={SERVICES} onChange={setCategory} />
        {label && <Field label={label} value={value} onChange={setValue} />}
        <TextArea label="Text" rows={2} value={text} onChange={setText} />
        <div aria-live="polite">
          {data?.failure && (
            <p>
              <Status tone="bad">Failed</Status> {data.failure.errorMessage}
            </p>
          )}
          {data && !data.failure && (
            <p>
              <Status tone={data.hit ? 'bad' : 'good'}>{data.hit ? 'Hit' : 'No hit'}</Status>{' '}
              {data.found}
            </p>
          )}
        </div>
      </Form>
    </Panel>
  )
}
