import type { ModerationRule } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { RuleForm } from './rule-form.tsx'

/** One page shows them all. */
const ALL = { limit: 100 }

export function Rules() {
  const appId = useAppId()
  const rules = useQuery({
    queryKey: appKey(appId, 'moderation', 'rules'),
    queryFn: () => manage.app(appId).moderationRules.list(ALL),
  })
  return (
    <div className="stack">
      <div className="row moderation-head">
        <Dialog
          wide
          title="Create rule"
          trigger={
            <Button look="main" icon="plus">
              Create rule
            </Button>
          }
        >
          {(close) => <RuleForm onDone={close} />}
        </Dialog>
      </div>
      {rules.isPending && <Skeleton lines={4} />}
      <Problem error={rules.error} retry={rules.refetch} />
      <ul className="stack">
        {rules.data?.data.map((rule) => (
          <RuleCard key={rule.id} rule={rule} />
        ))}
      </ul>
    </div>
  )
}

function RuleCard({ rule }: { rule: ModerationRule }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { moderationRules } = manage.app(appId)
  const done = async (text: string) => {
    await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
    toast(text)
  }
  const { id, name, enabled, filters, conditions, action } = rule
  const turn = useMutation({
    mutationFn: () => moderationRules.update(id, { enabled: !enabled }),
    onSuccess: () => done(enabled ? `${name} is off` : `${name} is on`),
  })
  const more = action.filter((one) => one !== 'blockMessage')
  return (
    <li className="panel rule-card">
      <div className="row">
        <strong dir="auto">{name}</strong>
        <Status tone={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Status>
        {rule.default && <Status>Built in</Status>}
        <span className="row-end">
          <Button onPress={() => turn.mutate()}>{enabled ? 'Turn off' : 'Turn on'}</Button>
          {!rule.default && (
            <>
              <Dialog wide title={`Revisions of ${name}`} trigger={<Button>Revisions</Button>}>
                <Revisions rule={rule} />
              </Dialog>
              <Dialog wide title={`Edit ${name}`} trigger={<Button>Edit</Button>}>
                {(close) => <RuleForm rule={rule} onDone={close} />}
              </Dialog>
              <ConfirmByName
                what="Delete rule"
                name={name}
                about="Messages that it blocked stay blocked until a moderator approves them."
                trigger={<Button look="danger">Delete</Button>}
                act={async () => {
                  await manage.app(appId).moderationRules.delete(id)
                  await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
                  toast(`Deleted ${name}`)
                }}
              />
            </>
          )}
        </span>
      </div>
      {rule.description && (
        <p className="soft" dir="auto">
          {rule.description}
        </p>
      )}
      <ul className="plain-list">
        {conditions.map(({ id: place, message }) => (
          <li key={place} dir="auto">
            {message}
          </li>
        ))}
      </ul>
      <p className="soft">
        {filters.length === 0 ? 'All messages' : `Only if ${filters.map(inWords).join(', and ')}`}
        {more.length > 0 && ` · ${more.map((one) => ACTIONS[one]).join(', ')}`}
      </p>
      <Problem error={turn.error} />
    </li>
  )
}

/** What the rule was, newest first. */
function Revisions({ rule }: { rule: ModerationRule }) {
  const appId = useAppId()
  const revisions = useQuery({
    queryKey: appKey(appId, 'moderation', 'revisions', rule.id),
    queryFn: () => manage.app(appId).moderationRules.listRevisions(rule.id, ALL),
  })
  return (
    <div className="stack">
      {revisions.isPending && <Skeleton lines={4} />}
      <Problem error={revisions.error} retry={revisions.refetch} />
      <ol className="plain-list revisions">
        {revisions.data?.data.map(
          ({ revisionId, updatedAt, active, enabled, conditions, action }) => (
            <li key={revisionId} className="panel rule-card">
              <div className="row">
                <code>{revisionId}</code>
                <Status tone={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Status>
                {active && <Status tone="info">Current</Status>}
                <small className="row-end">
                  <Time at={updatedAt} />
                </small>
              </div>
              <ul className="plain-list">
                {conditions.map(({ id, message }) => (
                  <li key={id} dir="auto">
                    {message}
                  </li>
                ))}
              </ul>
              <p className="soft">{action.map((one) => ACTIONS[one]).join(', ')}</p>
            </li>
          ),
        )}
      </ol>
    </div>
  )
}

const ACTIONS: Record<ModerationRule['action'][number], string> = {
  blockMessage: 'Block the message',
  kickUser: 'Kick the sender from the group',
  banUser: 'Ban the sender from the group',
  blockUser: 'Block the sender for the receiver',
  deactivateUser: 'Deactivate the sender',
}

const OPERATORS: Record<ModerationRule['filters'][number]['operator'], string> = {
  equals: 'is',
  notEquals: "isn't",
  in: 'is one of',
  notIn: 'is none of',
  startsWith: 'starts with',
  endsWith: 'ends with',
  lessThan: 'is before',
  greaterThan: 'is after',
}

const inWords = ({ type, entity, operand, operator, value }: ModerationRule['filters'][number]) => {
  const who = type === 'sender' ? 'sender' : `receiving ${entity}`
  return `the ${who}'s ${operand} ${OPERATORS[operator]} ${value.join(', ')}`
}
