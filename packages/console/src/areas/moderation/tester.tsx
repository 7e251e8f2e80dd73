import type { NewRuleCondition } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'

/** Shows which conditions apply to a text while the operator types: of the given ones, or of all rules that are on. */
export function Tester({ conditions }: { conditions?: NewRuleCondition[] }) {
  const appId = useAppId()
  const [typed, setTyped] = useState('')
  const text = useDeferredValue(typed)
  const test = useQuery({
    queryKey: appKey(appId, 'moderation', 'test', { text, conditions }),
    queryFn: () =>
      manage.app(appId).moderationRules.test({ text, ...(conditions && { rule: { conditions } }) }),
    enabled: text.trim() !== '' && conditions?.length !== 0,
    // Keep the last result until the next one is there.
    placeholderData: (before) => before,
  })
  const hits = text.trim() === '' ? undefined : test.data?.hits
  return (
    <section className="panel stack tester">
      <TextArea
        label="Try a text"
        hint={
          conditions
            ? 'Runs the conditions above, before you save them.'
            : 'Runs all rules that are on. Filters are left out.'
        }
        rows={2}
        value={typed}
        onChange={setTyped}
      />
      <div aria-live="polite">
        {hits?.length === 0 && <Status tone="good">Nothing found</Status>}
        {hits && hits.length > 0 && (
          <ul className="hits">
            {hits.map(({ ruleId, condition, text: found }) => (
              <li key={`${ruleId} ${condition}`}>
                <Status tone="bad">Blocked</Status>
                <span>
                  {ruleId ? (
                    <>
                      <code>{ruleId}</code>, condition {condition}
                    </>
                  ) : (
                    `Condition ${condition}`
                  )}{' '}
                  found <mark dir="auto">{found}</mark>
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
      {text.trim() !== '' && <Problem error={test.error} />}
    </section>
  )
}
