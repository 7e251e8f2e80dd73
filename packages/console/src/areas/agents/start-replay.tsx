import type { AgentRunDetails, StartAgentReplayBody } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { useProviders } from '../models/providers.tsx'
import { useAgentsChanged } from './data.ts'
import { useRevision } from './history.tsx'
import { MODES } from './words.ts'

interface StartProps {
  run: AgentRunDetails
  onStarted: (replayId: string) => void
}

/** Plays a run again, from its record or with another prompt or model. */
export const StartReplay = ({ run, onStarted }: StartProps) => (
  <Dialog title="Replay this run" trigger={<Button>Replay</Button>} wide>
    {(close) => (
      <ReplayForm
        run={run}
        onStarted={(id) => {
          close()
          onStarted(id)
        }}
      />
    )}
  </Dialog>
)

type Changes = NonNullable<StartAgentReplayBody['changes']>

function ReplayForm({ run, onStarted }: StartProps) {
  const appId = useAppId()
  const changed = useAgentsChanged()
  const [mode, setMode] = useState<'recorded' | 'live'>('recorded')
  const [changes, setChanges] = useState<Changes>({})
  const start = useMutation({
    mutationFn: () => {
      const given = Object.keys(changes).length > 0 && { changes }
      return manage.app(appId).agentReplays.start(run.id, {
        ...(mode === 'live' ? { mode, ...given } : { mode }),
      })
    },
    onSuccess: async ({ id }) => {
      onStarted(id)
      await changed()
    },
  })
  // An external agent does things by itself, so it can't be asked again.
  const canBeLive =
    run.revision !== undefined && !run.steps.some(({ kind }) => kind === 'agent_call')
  const { live, ...others } = MODES
  return (
    <Form mutation={start} submit="Start replay">
      <Choice<string>
        label="How"
        hint={
          mode === 'recorded'
            ? 'Plays the run again from its record, by the rules of moderation as they are now. Nothing is called.'
            : "Asks the model again, which costs the app's budget. Tools answer from the record. It stops at a call that the run did not make."
        }
        value={mode}
        options={canBeLive ? { ...others, live } : others}
        onChange={(to) => setMode(to === 'live' ? 'live' : 'recorded')}
      />
      {mode === 'live' && run.revision !== undefined && (
        <LiveFields
          agentUid={run.agentUid}
          revision={run.revision}
          changes={changes}
          setChanges={setChanges}
        />
      )}
    </Form>
  )
}

/** What is different in this replay alone. Fields that are as in the revision aren't sent. */
function LiveFields(props: {
  agentUid: string
  revision: number
  changes: Changes
  setChanges: (changes: Changes) => void
}) {
  const { agentUid, revision, changes, setChanges } = props
  const query = useRevision(agentUid, revision)
  const providers = useProviders()
  if (query.error) return <Problem error={query.error} retry={query.refetch} />
  if (!query.data) return <Skeleton lines={4} />
  const { content } = query.data
  const change = (field: 'instruction' | 'model' | 'providerId', value: string) => {
    const { [field]: _before, ...others } = changes
    setChanges(value === (content[field] ?? '') ? others : { ...others, [field]: value })
  }
  const names = providers.data?.data.map(({ id, name }) => [id, name] as const) ?? []
  const providerId = changes.providerId ?? content.providerId ?? ''
  return (
    <>
      <TextArea
        label="Instructions"
        hint="Only for this replay. The agent stays as it is."
        rows={8}
        value={changes.instruction ?? content.instruction ?? ''}
        onChange={(value) => change('instruction', value)}
      />
      <div className="pair">
        <Choice
          label="Provider"
          value={providerId}
          options={{ [providerId]: providerId || 'None', ...Object.fromEntries(names) }}
          onChange={(value) => change('providerId', value)}
        />
        <Field
          label="Model"
          mono
          value={changes.model ?? content.model ?? ''}
          onChange={(value) => change('model', value)}
          maxLength={100}
        />
      </div>
    </>
  )
}
